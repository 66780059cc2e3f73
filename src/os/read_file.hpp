// Reads small files whole, without the streams of the C++ library. A wheel links that library into
// each shared object that is loaded into programs, and its streams bring the tables of all locales
// along; also, the wrapper of read() would count calls made by streams as calls of the program. Any
// thread may call these functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom::os {

// The first `most` bytes of a file of any kind; waits for the bytes of a FIFO. `error` gets the
// errno value, 0 on success; on failure the result holds the bytes that were read before it.
std::string read_file(const std::string& path, std::size_t most, int* error);

// The whole of a file that the kernel provides (in /proc, /sys); empty if there is no such file.
std::string read_file(const std::string& path);

// The first bytes of such a file, as many as `buffer` holds, without the heap.
std::string_view read_file(const char* path, std::span<char> buffer) noexcept;

// The pieces between separators. A separator at the end is not followed by an empty piece.
std::vector<std::string_view> pieces_of(std::string_view text, char separator);

}  // namespace timeloom::os
