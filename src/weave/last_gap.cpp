#include "weave/last_gap.hpp"

#include <algorithm>

namespace timeloom::weave {
namespace {

std::uint64_t since(Timestamp from, Timestamp to) noexcept {
  return ticks(to) - std::min(ticks(from), ticks(to));
}

std::uint64_t since(std::uint64_t from, std::uint64_t to) noexcept {
  return to - std::min(from, to);
}

}  // namespace

std::optional<LastGap> last_gap(const spool::LastClocks& clocks, std::uint64_t last,
                                const ProcessClock& clock, Timestamp end) noexcept {
  const Timestamp begin = clock.to_time(last);
  if (since(begin, end) <= kShortGap) return {};
  const auto& [at_event, seen] = clocks;
  LastGap gap{.measured_until = begin};
  if (at_event.ticks != 0 && at_event.ticks <= last && seen.ticks > last) {
    gap.measured_until = std::min(clock.to_time(seen.ticks), end);
    const std::uint64_t passed = since(at_event.wall, seen.wall);
    const std::uint64_t ran = std::min(since(at_event.cpu, seen.cpu), passed);
    gap.waited = std::min(passed - ran, since(begin, gap.measured_until));
  }
  gap.unmeasured = since(gap.measured_until, end) > kShortGap;
  return gap;
}

}  // namespace timeloom::weave
