// Notes the peak of the resident memory of this process in its spool: at the end, and while it runs
// each time that the peak has grown by a sixty-fourth, so that a killed process leaves it, too. Not
// within its first second: the thread that looks would take a heap of its own, 64 MB of address
// space, in programs that end before it needs one.
//
// Owned by the state of the measurement, whose mutex guards it. Nothing throws.
#pragma once

#include <cstdint>

#include "spool/writer.hpp"

namespace timeloom::record {

class ResidentWatch {
 public:
  void begin() noexcept { *this = {}; }
  // Makes system calls that use descriptors.
  void look(spool::Writer& writer, bool at_end) noexcept;

 private:
  std::uint64_t noted_ = 0;  // bytes
  bool looked_ = false;
};

}  // namespace timeloom::record
