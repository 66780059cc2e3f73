// Converts the ticks of one process to nanoseconds of CLOCK_MONOTONIC.
//
// A plain value; thread-safe. The conversion is a line through the first and the last comparison of
// the clocks in the spool. With a single comparison, the speed of this machine's counter is used;
// with none, the counter is taken to have started together with the clock. Times stay below 2^63
// and in order, even for a damaged spool. Where the host's clock was compared with another host's,
// the line through the first and the last offset is added, so that times are on the other host's
// clock. Throws nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tick_line.hpp"
#include "os/clock.hpp"
#include "spool/reader.hpp"

namespace timeloom::weave {

using ClockOffset = spool::ProcessDefinitions::ClockOffset;

class ProcessClock {
 public:
  // `syncs`, `offsets`: in order of time.
  ProcessClock(os::ClockSource source, const std::vector<os::ClockSync>& syncs,
               const std::vector<ClockOffset>& offsets = {});

  Timestamp to_time(std::uint64_t ticks) const noexcept { return line_.to_time(ticks); }
  // A duration in nanoseconds; a whole is never shorter than its parts together.
  std::uint64_t duration(std::uint64_t ticks) const noexcept { return line_.scale(ticks); }
  const TickLine& line() const noexcept { return line_; }

 private:
  TickLine line_;
};

}  // namespace timeloom::weave
