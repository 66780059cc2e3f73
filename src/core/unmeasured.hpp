// What a program has started and what was not measured: a byte each in a file of the run, `i` for a
// sub-interpreter and any other for a Python process; python/timeloom_follow.py writes it.
//
// Plain values, for any thread. The file may have been written by anybody: what is beyond a
// mebibyte is not counted.
#pragma once

#include <cstdint>

#include "os/file.hpp"

namespace timeloom {

struct Unmeasured {
  std::uint64_t processes = 0;
  std::uint64_t interpreters = 0;
};

// Zeros where the file is not open or cannot be read.
Unmeasured read_unmeasured(const os::File& file);

}  // namespace timeloom
