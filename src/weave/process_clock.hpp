// Converts the ticks of one process to nanoseconds of CLOCK_MONOTONIC.
//
// A plain value; thread-safe. The conversion is a line through the first and the last comparison of
// the clocks in the spool. With a single comparison, the speed of this machine's counter is used;
// with none, the counter is taken to have started together with the clock. Times stay below 2^63
// and in order, even for a damaged spool. Where the host's clock was compared with another host's,
// the line through the first and the last offset is added, so that times are on the other host's
// clock. Throws nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/ids.hpp"
#include "os/clock.hpp"
#include "spool/reader.hpp"

namespace timeloom::weave {

using ClockOffset = spool::ProcessDefinitions::ClockOffset;

class ProcessClock {
 public:
  // `syncs`, `offsets`: in order of time.
  ProcessClock(os::ClockSource source, const std::vector<os::ClockSync>& syncs,
               const std::vector<ClockOffset>& offsets = {});

  Timestamp to_time(std::uint64_t ticks) const noexcept {
    if (ticks < origin_ticks_) {
      return Timestamp{origin_ns_ - std::min(origin_ns_, scale(origin_ticks_ - ticks))};
    }
    return Timestamp{origin_ns_ + scale(ticks - origin_ticks_)};
  }
  // A duration in nanoseconds; a whole is never shorter than its parts together.
  std::uint64_t duration(std::uint64_t ticks) const noexcept { return scale(ticks); }

 private:
  static constexpr unsigned kShift = 40;
  static constexpr std::uint64_t kLongest = std::uint64_t{1} << 62;
  std::uint64_t scale(std::uint64_t ticks) const noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide ns = (static_cast<Wide>(ticks) * factor_) >> kShift;
    return static_cast<std::uint64_t>(std::min<Wide>(ns, kLongest));
  }

  std::uint64_t origin_ticks_ = 0;
  std::uint64_t origin_ns_ = 0;
  std::uint64_t factor_ = std::uint64_t{1} << kShift;  // ns per tick * 2^kShift
};

}  // namespace timeloom::weave
