#include "weave/gpu/gpu_counters.hpp"

#include <algorithm>
#include <map>

namespace timeloom::weave {

std::vector<GpuDeviceCounters> device_counters(
    const spool::GpuData& data, const std::function<Timestamp(std::uint64_t)>& time,
    const std::function<std::uint32_t(const GpuCounterMetric&)>& metric) {
  std::map<std::uint32_t, GpuDeviceCounters> devices;
  for (const spool::GpuRecord& record : data.records) {
    if (record.kind() != spool::GpuRecordKind::kCounter) continue;
    GpuDeviceCounters& device = devices[data.places[record.place].device];
    GpuCounterSum& sum = device.sums[record.detail()];
    ++sum.values;
    sum.sum += record.value();
    sum.most = std::max(sum.most, record.value());
    device.events.push_back({time(record.start), EventKind::kMetric,
                             metric(kGpuCounterMetrics[record.detail()]), record.value()});
  }
  std::vector<GpuDeviceCounters> all;
  for (auto& [id, device] : devices) {
    device.device = id;
    std::ranges::stable_sort(device.events, {}, &Event::time);
    all.push_back(std::move(device));
  }
  return all;
}

}  // namespace timeloom::weave
