// The line at which a Python function takes a lock, found in its source.
//
// A run tells that threads waited in a function, and not for what; its source tells a lock from
// sleep or input. Pure text functions, but lock_place() reads the file. Nothing throws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/definitions.hpp"

namespace timeloom::tools {

// The number of the first line of the function that begins at `first_line` which takes a lock:
// `with` a name that means a lock, or acquire(). 0: none. `source`: of the whole file.
std::uint32_t lock_line(std::string_view source, std::uint32_t first_line);

// The same as "FILE:LINE" without the directory; empty: none, or the file is not there, or was
// changed after `start`, in ns since 1970.
std::string lock_place(const Region& region, std::uint64_t start);

}  // namespace timeloom::tools
