#include "weave/gpu/gpu_waits.hpp"

#include <algorithm>

namespace timeloom::weave {

using spool::GpuRecord;
using spool::GpuRecordKind;
using spool::GpuWait;

std::string device_number(std::uint32_t device) {
  return device == spool::kGpuNone ? "?" : std::to_string(device);
}

std::string queue_name(std::uint32_t device, std::uint64_t queue) {
  return "CUDA[" + device_number(device) + ":" + std::to_string(queue) + "]";
}

GpuWaits::GpuWaits(const spool::GpuData& data, const GpuCallRecords& calls) {
  for (const spool::GpuPlace& place : data.places) {
    const bool names_device =
        place.kind == spool::GpuPlaceKind::kQueue && place.device != spool::kGpuNone;
    if (names_device) devices_.try_emplace(place.context, place.device);
  }
  take_events(data, calls);
  for (const GpuRecord& record : data.records) {
    if (record.kind() != GpuRecordKind::kWait) continue;
    if (!calls.contains(record.correlation) || record.end < record.start) {
      ++lost_;
      continue;
    }
    GpuWaitOfCall& wait = waits_[record.correlation];
    const bool of_thread = static_cast<GpuWait>(record.detail()) != GpuWait::kOfQueue;
    if (of_thread) wait.ticks += record.end - record.start;
    if (wait.what.empty()) wait.what = name(data, record);
  }
}

const GpuWaitOfCall* GpuWaits::of(std::uint32_t correlation) const {
  const auto found = waits_.find(correlation);
  return found == waits_.end() ? nullptr : &found->second;
}

// A program puts the same event into queues again and again; the call tells when.
void GpuWaits::take_events(const spool::GpuData& data, const GpuCallRecords& calls) {
  for (const GpuRecord& record : data.records) {
    if (record.kind() != GpuRecordKind::kEvent) continue;
    const auto call = calls.find(record.correlation);
    if (call == calls.end()) continue;
    const EventKey key{data.places[record.place].context, record.value()};
    events_[key].push_back({call->second->start, record.place});
  }
  for (auto& [key, puts] : events_) std::ranges::stable_sort(puts, std::less<>());
}

std::string GpuWaits::place_name(const spool::GpuPlace& place) const {
  const auto device = devices_.find(place.context);
  const std::uint32_t number = device == devices_.end() ? spool::kGpuNone : device->second;
  return queue_name(number, place.queue);
}

std::string GpuWaits::event_name(const spool::GpuData& data, const GpuRecord& wait) const {
  const auto puts = events_.find({data.places[wait.place].context, wait.value()});
  if (puts == events_.end()) return "an event";
  const auto after = std::ranges::upper_bound(puts->second, Put{wait.start, 0}, std::less<>());
  if (after == puts->second.begin()) return "an event";
  return "an event in " + place_name(data.places[(after - 1)->place]);
}

std::string GpuWaits::name(const spool::GpuData& data, const GpuRecord& wait) const {
  const spool::GpuPlace& place = data.places[wait.place];
  switch (static_cast<GpuWait>(wait.detail())) {
    case GpuWait::kForEvent:
    case GpuWait::kOfQueue: return event_name(data, wait);
    case GpuWait::kForQueue: return place_name(place);
    case GpuWait::kForContext: {
      const auto device = devices_.find(place.context);
      if (device == devices_.end()) return "all streams";
      return "all streams of CUDA[" + std::to_string(device->second) + "]";
    }
    case GpuWait::kOther: break;
  }
  return {};
}

}  // namespace timeloom::weave
