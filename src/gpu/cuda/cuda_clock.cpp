#include "gpu/cuda/cuda_clock.hpp"

#include <time.h>

namespace timeloom::cuda {

void Clock::start() noexcept {
  begin_ = os::sync_clocks();
  if (os::clock_source() == os::ClockSource::kMonotonic) return;  // a tick is a nanosecond
  const timespec pause{0, 2'000'000};
  ::nanosleep(&pause, nullptr);
  const os::ClockSync later = os::sync_clocks();
  const auto ticks = static_cast<double>(later.ticks - begin_.ticks);
  const auto nanoseconds = static_cast<double>(later.monotonic_ns - begin_.monotonic_ns);
  constexpr auto kOne = static_cast<double>(std::uint64_t{1} << kShift);
  nanoseconds_per_tick_ = static_cast<std::uint64_t>(nanoseconds / ticks * kOne);
  // Computed from the rounded factor, so that both conversions use the same line.
  ticks_per_nanosecond_ =
      static_cast<std::uint64_t>(kOne / static_cast<double>(nanoseconds_per_tick_) * kOne);
}

}  // namespace timeloom::cuda
