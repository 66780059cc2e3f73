// Reads small files whole. What is loaded into programs does without the streams of the C++
// library: a wheel links that library into each shared object, and the streams bring the tables of
// all locales along, and a wrapper of read() would take calls from there for those of the program.
// Any thread may call these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom::os {

// The bytes from the beginning of a file of any kind, `most` at most; waits for those of a FIFO.
// `error` gets the errno value, 0 on success; on failure there are those that were read before it.
std::string read_file(const std::string& path, std::size_t most, int* error);

// The same of a file of the kernel's, which is as long as it is; empty if there is no such file.
std::string read_file(const std::string& path);

// What lies between separators; nothing behind the last one is no piece.
std::vector<std::string_view> pieces_of(std::string_view text, char separator);

}  // namespace timeloom::os
