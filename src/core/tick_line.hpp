// A line from the ticks of a counter to nanoseconds of a clock. A plain value, for any thread;
// nothing throws.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/ids.hpp"

namespace timeloom {

struct TickLine {
  static constexpr unsigned kShift = 40;
  // Times and durations stay below 2^63.
  static constexpr std::uint64_t kLongest = std::uint64_t{1} << 62;

  std::uint64_t origin_ticks = 0;
  std::uint64_t origin_ns = 0;                        // at most kLongest
  std::uint64_t factor = std::uint64_t{1} << kShift;  // ns per tick * 2^kShift

  Timestamp to_time(std::uint64_t ticks) const noexcept {
    if (ticks < origin_ticks) {
      return Timestamp{origin_ns - std::min(origin_ns, scale(origin_ticks - ticks))};
    }
    return Timestamp{origin_ns + scale(ticks - origin_ticks)};
  }
  // A duration in nanoseconds; a whole is never shorter than its parts together.
  std::uint64_t scale(std::uint64_t ticks) const noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide ns = (static_cast<Wide>(ticks) * factor) >> kShift;
    return static_cast<std::uint64_t>(std::min<Wide>(ns, kLongest));
  }
};

}  // namespace timeloom
