#include "weave/memory/memory_curve.hpp"

#include <algorithm>

namespace timeloom::weave {

std::vector<Event> memory_curve(const spool::MemoryData& data, const ProcessClock& clock,
                                Timestamp begin, Timestamp end, MetricId metric) {
  constexpr std::size_t kGroups = 32'768;
  std::vector<Event> events;
  const auto add = [&](std::uint64_t ticks, std::uint64_t live) {
    const Timestamp time = std::clamp(clock.to_time(ticks), begin, end);
    events.push_back({time, EventKind::kMetric, metric.value(), live});
  };
  add(data.start, data.live_at_start);
  const std::size_t size = data.each ? 1 : data.blocks.size() / kGroups + 1;
  for (std::size_t first = 0; first < data.blocks.size(); first += size) {
    const auto from = data.blocks.begin() + static_cast<std::ptrdiff_t>(first);
    const auto last =
        from + static_cast<std::ptrdiff_t>(std::min(size, data.blocks.size() - first));
    const auto most =
        std::max_element(from, last, [](const auto& a, const auto& b) { return a.live < b.live; });
    add(most->ticks, most->live);
    if (most + 1 != last) add((last - 1)->ticks, (last - 1)->live);
  }
  add(data.peak_ticks, data.peak);
  if (data.end != 0) add(data.end, data.live);
  // Threads write their records a little out of order.
  std::ranges::stable_sort(events, {}, &Event::time);
  return events;
}

}  // namespace timeloom::weave
