// The Python processes and sub-interpreters that a program has started and that were not measured.
// A file of the run has one byte for each, `i` for a sub-interpreter, `w` for a worker that the
// setting `workers` leaves out, and any other for a process; python/timeloom_follow.py writes it,
// and python/session/worker_places.cpp.
//
// Plain values, for any thread. The file may come from anybody: bytes beyond the first mebibyte are
// not counted.
#pragma once

#include <cstdint>
#include <string>

#include "os/file.hpp"

namespace timeloom {

struct Unmeasured {
  std::uint64_t processes = 0;
  std::uint64_t interpreters = 0;
  std::uint64_t workers = 0;  // left out as the user wished
};

// The sentence about workers that were left out; `count`: not 0.
std::string left_out_workers_text(std::uint64_t count);

// Zeros if the file is not open or cannot be read.
Unmeasured read_unmeasured(const os::File& file);

}  // namespace timeloom
