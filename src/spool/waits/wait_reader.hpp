// Reads the file `waits` of a spool, even if the process was killed or still runs: up to the first
// block that is not complete.
//
// A function without state, for any thread; the result is a plain value.
#pragma once

#include <cstdint>
#include <vector>

#include "spool/spool_directory.hpp"
#include "spool/waits/wait_format.hpp"

namespace timeloom::spool {

struct WaitData {
  bool present = false;                    // the file is there: the process has looked at its
                                           // threads
  std::vector<WaitSpan> spans;             // by location, then by time; each ends after its start
  std::uint64_t gil_from = 0, gil_to = 0;  // equal: the interpreter's lock is not known
  std::vector<WaitLoad> loads;
  bool hidden = false;
  bool damaged = false;
};

// Empty if there is no such file.
WaitData read_waits(const SpoolDirectory& directory);

}  // namespace timeloom::spool
