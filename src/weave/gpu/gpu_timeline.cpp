#include "weave/gpu/gpu_timeline.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <unordered_map>

#include "weave/gpu/gpu_names.hpp"

namespace timeloom::weave {

using spool::GpuCopy;
using spool::GpuPlaceKind;
using spool::GpuRecord;
using spool::GpuRecordKind;

namespace {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return text == nullptr ? name : text.get();
}

std::string copy_name(std::uint8_t detail) {
  static constexpr const char* kDirections[] = {"copy",
                                                "copy host to device",
                                                "copy device to host",
                                                "copy device to device",
                                                "copy host to host",
                                                "copy peer to peer"};
  const std::size_t direction = detail & 0xf;
  std::string name = kDirections[direction < std::size(kDirections) ? direction : 0];
  if ((detail & spool::kGpuPageable) != 0) name += " (pageable)";
  return name;
}

// Calls that wait for the GPU, and calls that start work on it.
RegionRole role_of(const std::string& call) {
  return call.find("Synchronize") != std::string::npos ? RegionRole::kBarrier
                                                       : RegionRole::kWrapper;
}

}  // namespace

// Maps that are needed only while the timeline is built.
struct GpuTimeline::Building {
  const spool::GpuData& data;
  const spool::ProcessDefinitions& process;
  const ProcessClock& clock;
  const Life& life;
  GpuDefinitions& definitions;
  std::map<std::uint32_t, std::size_t> queues{};               // from places
  std::map<std::uint64_t, std::size_t> native{};               // from ids of threads
  std::unordered_map<std::uint32_t, Timestamp> calls{};        // their starts, by correlation
  std::unordered_map<std::uint32_t, Started> started{};        // by correlation
  std::unordered_map<std::uint32_t, std::uint32_t> kernels{};  // regions of launches
  std::map<std::uint32_t, std::vector<std::pair<Timestamp, Timestamp>>> devices{};

  Timestamp time(std::uint64_t ticks) const {
    return std::clamp(clock.to_time(ticks), life.begin, std::max(life.begin, life.end));
  }
  std::uint32_t kernel(std::uint64_t launch) {
    const auto [known, is_new] = kernels.try_emplace(static_cast<std::uint32_t>(launch), 0);
    if (is_new) {
      const std::string& name = data.texts[data.launches[launch].name];
      known->second = definitions.region(demangled(name), kGpuKernels, RegionRole::kFunction, name);
    }
    return known->second;
  }
  // The thread that had this id of the operating system at that time; UINT32_MAX: no measured
  // thread.
  std::uint32_t thread_of(std::uint64_t id, std::uint64_t then) const {
    std::uint32_t found = UINT32_MAX;
    std::uint64_t since = 0;
    for (const auto& [index, thread] : process.threads) {
      if (thread.thread_id != id || thread.owner || thread.has_metrics) continue;
      if (found != UINT32_MAX && (thread.begin > then || thread.begin < since)) continue;
      found = index;
      since = thread.begin;
    }
    return found;
  }
  std::uint32_t region_of(const GpuRecord& record) {
    if (record.kind() == GpuRecordKind::kKernel) return kernel(record.value());
    const std::string name =
        record.kind() == GpuRecordKind::kSet ? "set memory" : copy_name(record.detail());
    return definitions.region(name, kGpuCopies, RegionRole::kFunction, name);
  }
};

GpuTimeline::GpuTimeline(const spool::GpuData& data, const spool::ProcessDefinitions& process,
                         const ProcessClock& clock, const Life& life, GpuDefinitions& definitions)
    : call_ids_(definitions.call_ids()),
      queue_metric_(definitions.metric(kGpuQueueTime, "ns")),
      bytes_metric_(definitions.metric(kGpuBytes, "bytes")),
      lost_(data.lost),
      left_(data.left) {
  Building building{data, process, clock, life, definitions};
  for (const GpuRecord& record : data.records) {
    if (record.kind() != GpuRecordKind::kCall) continue;
    building.calls.try_emplace(record.correlation, clock.to_time(record.start));
  }
  for (const GpuRecord& record : data.records) {
    if (record.kind() != GpuRecordKind::kCall) add_work(record, building);
  }
  for (const GpuRecord& record : data.records) {
    if (record.kind() == GpuRecordKind::kCall) add_call(record, building);
  }
  const auto sort = [](std::vector<GpuCall>& calls) {
    std::ranges::stable_sort(calls, [](const GpuCall& a, const GpuCall& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
  };
  for (auto& [thread, calls] : calls_) sort(calls);
  for (NativeThread& thread : native_) sort(thread.calls);
  put_queues_in_order();
  measure_busy(building);
}

void GpuTimeline::add_work(const GpuRecord& record, Building& b) {
  if (record.end < record.start) {  // it had not ended when the record was handed out
    ++lost_;
    return;
  }
  const spool::GpuPlace& place = b.data.places[record.place];
  const auto [queue, is_new] = b.queues.try_emplace(record.place, queues_.size());
  if (is_new) {
    queues_.push_back(
        {"CUDA[" + std::to_string(place.device) + ":" + std::to_string(place.queue) + "]"});
  }
  GpuWork work{b.time(record.start), b.time(record.end), b.region_of(record)};
  if (const auto call = b.calls.find(record.correlation); call != b.calls.end()) {
    const std::uint64_t begun = ticks(call->second);
    const std::uint64_t start = ticks(b.clock.to_time(record.start));
    work.queue_ns = start - std::min(start, begun);
  }
  if (record.kind() != GpuRecordKind::kKernel) work.bytes = record.value();
  Started& started = b.started[record.correlation];
  started.various = started.works != 0 && (started.various || started.region != work.region);
  started.region = work.region;
  started.gpu_ns += b.clock.duration(record.end - record.start);
  ++started.works;
  b.devices[place.device].emplace_back(work.start, work.end);
  queues_[queue->second].works.push_back(work);
}

void GpuTimeline::add_call(const GpuRecord& record, Building& b) {
  const std::string& name = b.data.texts[record.value()];
  GpuCall call{b.time(record.start), b.time(record.end),
               b.definitions.region(name, kGpuCalls, role_of(name), name)};
  if (const auto found = b.started.find(record.correlation); found != b.started.end()) {
    const Started& started = found->second;
    call.gpu_ns = started.gpu_ns;
    call.works = started.works;
    if (!started.various) call.started = b.definitions.region_name(started.region);
    b.started.erase(found);  // of several calls with this number, the first
  }
  const std::uint64_t id = b.data.places[record.place].thread;
  const std::uint32_t thread = b.thread_of(id, record.start);
  if (thread != UINT32_MAX) return calls_[thread].push_back(call);
  const auto [native, is_new] = b.native.try_emplace(id, native_.size());
  if (is_new) native_.push_back({"native thread " + std::to_string(id), id});
  native_[native->second].calls.push_back(call);
}

// Kernels of one queue may overlap where a graph has started them.
void GpuTimeline::put_queues_in_order() {
  for (Queue& queue : queues_) {
    std::ranges::stable_sort(queue.works, {}, &GpuWork::start);
    Timestamp last{};
    for (GpuWork& work : queue.works) {
      work.start = std::max(work.start, last);
      last = work.end = std::max(work.end, work.start);
    }
  }
}

void GpuTimeline::measure_busy(const Building& b) {
  for (const auto& [device, spans] : b.devices) {
    auto sorted = spans;
    std::ranges::sort(sorted);
    Timestamp until{};
    for (const auto& [start, end] : sorted) {
      const Timestamp from = std::max(start, until);
      if (end > from) busy_ns_ += ticks(end) - ticks(from);
      until = std::max(until, end);
    }
  }
  devices_ = b.devices.size();
}

std::span<const GpuCall> GpuTimeline::calls_of(std::uint32_t thread) const noexcept {
  const auto found = calls_.find(thread);
  return found == calls_.end() ? std::span<const GpuCall>() : std::span(found->second);
}

}  // namespace timeloom::weave
