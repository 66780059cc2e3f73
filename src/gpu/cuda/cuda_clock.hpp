// The clock that CUPTI is given: the ticks of Timeloom's events, in nanoseconds since 1970 as CUPTI
// and its other users expect. CUPTI converts GPU times to this clock. The conversion back to ticks
// is exact to the nanosecond, since both directions use the same factor.
//
// Any thread may call now(), one thread at a time all other functions. Nothing throws.
#pragma once

#include <atomic>
#include <cstdint>

#include "os/clock.hpp"

namespace timeloom::cuda {

class Clock {
 public:
  // Measures the length of a tick, which takes a few milliseconds.
  void start() noexcept;
  std::uint64_t now() const noexcept { return nanoseconds(os::now()); }
  std::uint64_t nanoseconds(std::uint64_t ticks) const noexcept {
    return begin_.realtime_ns + scale(ticks - begin_.ticks, nanoseconds_per_tick_);
  }
  // 0: the time is not from this clock.
  std::uint64_t ticks(std::uint64_t nanoseconds) const noexcept {
    if (nanoseconds <= begin_.realtime_ns) return 0;
    return begin_.ticks + scale(nanoseconds - begin_.realtime_ns, ticks_per_nanosecond_);
  }

 private:
  static constexpr unsigned kShift = 48;
  static std::uint64_t scale(std::uint64_t value, std::uint64_t factor) noexcept {
    __extension__ using Wide = unsigned __int128;
    constexpr Wide kHalf = Wide{1} << (kShift - 1);
    return static_cast<std::uint64_t>((static_cast<Wide>(value) * factor + kHalf) >> kShift);
  }

  os::ClockSync begin_;
  std::uint64_t nanoseconds_per_tick_ = std::uint64_t{1} << kShift;  // times 2^kShift
  std::uint64_t ticks_per_nanosecond_ = std::uint64_t{1} << kShift;
};

}  // namespace timeloom::cuda
