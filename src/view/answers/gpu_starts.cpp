#include "view/answers/gpu_starts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "profile/gpu/gpu_metric.hpp"

namespace timeloom::view {

GpuStartFinder::GpuStartFinder(const Definitions& definitions)
    : ticks_per_ns_(static_cast<double>(definitions.clock.ticks_per_second) / 1e9) {
  for (std::uint32_t i = 0; i < definitions.metrics.size(); ++i) {
    const Metric& metric = definitions.metrics[i];
    if (metric.name == kGpuTime && metric.type == MetricValueType::kUint64) metric_ = i;
  }
}

std::optional<GpuStart> GpuStartFinder::start_at(const Cursor& cursor, const Track& track,
                                                 std::uint32_t number) const noexcept {
  const Event& event = cursor.other();
  if (event.kind != EventKind::kMetric || event.ref != metric_ || cursor.open().empty()) return {};
  const double ticks = std::round(static_cast<double>(event.value) * ticks_per_ns_);
  const auto most = static_cast<double>(kLastTime);
  const std::uint32_t path = track.nodes()[cursor.open().back().node].path;
  return GpuStart{cursor.time(), static_cast<std::uint64_t>(std::min(ticks, most)), number, path};
}

std::vector<GpuSum> gpu_sums(std::span<const GpuStart> starts, const std::vector<bool>& tracks,
                             std::uint64_t from, std::uint64_t to) {
  std::map<std::uint32_t, GpuSum> sums;
  for (const GpuStart& one : starts) {
    if (one.time < from || one.time >= to || !tracks[one.track]) continue;
    GpuSum& sum = sums[one.path];
    sum.path = one.path;
    sum.ticks += one.ticks;
    ++sum.starts;
  }
  std::vector<GpuSum> all;
  for (const auto& [path, sum] : sums) all.push_back(sum);
  return all;
}

}  // namespace timeloom::view
