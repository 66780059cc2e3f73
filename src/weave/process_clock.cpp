#include "weave/process_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace timeloom::weave {
namespace {

// The line of a process that was killed before it compared its clocks twice, or whose comparisons
// are damaged. If it ran on this machine, its counter has the speed of this machine's counter.
double measure_ns_per_tick() {
  using namespace std::chrono_literals;
  const os::ClockSync before = os::sync_clocks();
  std::this_thread::sleep_for(20ms);
  const os::ClockSync after = os::sync_clocks();
  return static_cast<double>(after.monotonic_ns - before.monotonic_ns) /
         static_cast<double>(after.ticks - before.ticks);
}

double ns_per_tick_here() {
  static const double kValue = measure_ns_per_tick();
  return kValue;
}

double ns_per_tick(os::ClockSource source, const std::vector<os::ClockSync>& syncs) {
  if (source == os::ClockSource::kMonotonic) return 1.0;
  const os::ClockSync first = syncs.empty() ? os::ClockSync{} : syncs.front();
  const os::ClockSync last = syncs.empty() ? os::ClockSync{} : syncs.back();
  const bool apart = last.ticks > first.ticks && last.monotonic_ns > first.monotonic_ns;
  if (!apart) return source == os::clock_source() ? ns_per_tick_here() : 1.0;
  return static_cast<double>(last.monotonic_ns - first.monotonic_ns) /
         static_cast<double>(last.ticks - first.ticks);
}

// The clock of rank 0 is `offset` ahead at `from`, and gains `slope` ns in each.
struct Drift {
  std::uint64_t from = 0;
  double offset = 0;
  double slope = 0;

  std::uint64_t at(std::uint64_t ns, std::uint64_t longest) const {
    const double since = static_cast<double>(static_cast<std::int64_t>(ns - from));
    const auto moved = static_cast<std::int64_t>(std::llround(offset + slope * since));
    const auto low = static_cast<std::int64_t>(ns);
    return std::min(static_cast<std::uint64_t>(std::max(low + moved, std::int64_t{0})), longest);
  }
};

// Crystals differ by some parts in a million; a larger slope comes from a failed measurement.
Drift drift_of(const std::vector<ClockOffset>& offsets) {
  constexpr double kMostSlope = 1e-3, kMostOffset = 4e18;
  const ClockOffset& first = offsets.front();
  const ClockOffset& last = offsets.back();
  Drift drift{first.monotonic_ns, static_cast<double>(first.offset_ns), 0};
  drift.offset = std::clamp(drift.offset, -kMostOffset, kMostOffset);
  if (last.monotonic_ns > first.monotonic_ns) {
    const double change =
        static_cast<double>(last.offset_ns) - static_cast<double>(first.offset_ns);
    drift.slope = std::clamp(change / static_cast<double>(last.monotonic_ns - first.monotonic_ns),
                             -kMostSlope, kMostSlope);
  }
  return drift;
}

}  // namespace

ProcessClock::ProcessClock(os::ClockSource source, const std::vector<os::ClockSync>& syncs,
                           const std::vector<ClockOffset>& offsets) {
  if (!syncs.empty()) {
    line_.origin_ticks = syncs.front().ticks;
    line_.origin_ns = std::min(syncs.front().monotonic_ns, TickLine::kLongest);
  }
  // Counters run at 1 MHz to 10 GHz; a value far outside comes from damage.
  double factor = std::clamp(ns_per_tick(source, syncs), 0.001, 1e6);
  if (!offsets.empty()) {
    const Drift drift = drift_of(offsets);
    line_.origin_ns = drift.at(line_.origin_ns, TickLine::kLongest);
    factor *= 1 + drift.slope;
  }
  line_.factor = static_cast<std::uint64_t>(std::ldexp(factor, TickLine::kShift));
}

}  // namespace timeloom::weave
