// Notes the peak of the resident memory of this process in its spool: at the end, and while it runs
// each time that the peak has grown by a sixty-fourth, so that a killed process leaves it, too. The
// thread that looks meanwhile uses no heap, see Writer::define_short_property().
//
// Owned by the state of the measurement, whose mutex guards it. Nothing throws.
#pragma once

#include <cstdint>

#include "spool/writer.hpp"

namespace timeloom::record {

class ResidentWatch {
 public:
  // Reads the limit; with the heap.
  void begin() noexcept;
  // Makes system calls that use descriptors.
  void look(spool::Writer& writer, bool at_end) noexcept;

 private:
  std::uint64_t noted_ = 0;  // bytes
  std::uint64_t limit_ = 0;
};

}  // namespace timeloom::record
