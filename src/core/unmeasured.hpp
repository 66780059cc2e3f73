// The Python processes and sub-interpreters that a program has started and that were not measured.
// A file of the run has one byte for each, `i` for a sub-interpreter and any other for a process;
// python/timeloom_follow.py writes it.
//
// Plain values, for any thread. The file may come from anybody: bytes beyond the first mebibyte are
// not counted.
#pragma once

#include <cstdint>

#include "os/file.hpp"

namespace timeloom {

struct Unmeasured {
  std::uint64_t processes = 0;
  std::uint64_t interpreters = 0;
};

// Zeros if the file is not open or cannot be read.
Unmeasured read_unmeasured(const os::File& file);

}  // namespace timeloom
