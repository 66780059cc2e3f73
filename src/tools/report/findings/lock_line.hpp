// The line at which a Python function takes a lock, found in its source.
//
// A run records that threads waited in a function, but not for which object; the source of the
// function shows whether it was a lock. Pure text functions, but lock_place() reads the file.
// They throw only std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/definitions.hpp"

namespace timeloom::tools {

// The number of the first line that takes a lock, in the function that begins at `first_line`:
// `with` a name that means a lock, or acquire(). 0: none. `source`: of the whole file.
std::uint32_t lock_line(std::string_view source, std::uint32_t first_line);

// The same as "FILE:LINE" without the directory; empty: none, or the file is not there, or was
// changed after `start`, in ns since 1970.
std::string lock_place(const Region& region, std::uint64_t start);

}  // namespace timeloom::tools
