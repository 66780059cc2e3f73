#include "weave/gpu/gpu_timeline.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <unordered_map>

#include "weave/gpu/gpu_memory.hpp"
#include "weave/gpu/gpu_names.hpp"
#include "weave/gpu/gpu_waits.hpp"

namespace timeloom::weave {

using spool::GpuCopy;
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
  if ((detail & spool::kGpuPageable) != 0) return name + " (pageable)";
  if ((detail & spool::kGpuPinned) != 0) return name + " (pinned)";
  return name;
}

std::optional<EventKind> copy_of(const GpuRecord& record) {
  if (record.kind() != GpuRecordKind::kCopy) return {};
  const auto direction = static_cast<GpuCopy>(record.detail() & 0xf);
  if (direction == GpuCopy::kHostToDevice) return EventKind::kRmaGet;
  if (direction == GpuCopy::kDeviceToHost) return EventKind::kRmaPut;
  return {};
}

// Calls that wait for the GPU, and calls that start work on it.
RegionRole role_of(const std::string& call) {
  return call.find("Synchronize") != std::string::npos ? RegionRole::kBarrier
                                                       : RegionRole::kWrapper;
}

// Outer calls come before calls inside.
void sort_calls(std::vector<GpuCall>& calls) {
  std::ranges::stable_sort(calls, [](const GpuCall& a, const GpuCall& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
}

std::string lane_name(std::uint64_t thread, std::size_t lane) {
  const std::string name = "NVTX of thread " + std::to_string(thread);
  return lane == 0 ? name : name + " (" + std::to_string(lane + 1) + ")";
}

}  // namespace

// Maps that are needed only while the timeline is built.
struct GpuTimeline::Building {
  const spool::GpuData& data;
  const spool::ProcessDefinitions& process;
  const ProcessClock& clock;
  const Life& life;
  GpuDefinitions& definitions;
  std::map<std::uint32_t, std::size_t> queues{};  // from places
  std::map<std::uint64_t, std::size_t> native{};  // from ids of threads
  // For each queue: the number of works by the place of their calls, and the time of one.
  struct Feeding {
    std::uint64_t works = 0;
    std::uint64_t then = 0;
  };
  std::vector<std::map<std::uint32_t, Feeding>> feeders{};
  GpuCallRecords calls{};
  std::optional<GpuWaits> waits{};
  std::optional<GpuMemoryUse> memory{};
  std::unordered_map<std::uint32_t, Started> started{};          // by correlation
  std::unordered_map<std::uint32_t, std::uint32_t> kernels{};    // regions of launches
  std::unordered_map<std::uint64_t, std::uint32_t> copies{};     // regions, by kind and detail
  std::unordered_map<std::uint64_t, std::uint32_t> functions{};  // regions of calls, by text
  std::unordered_map<std::uint32_t, std::uint32_t> names{};      // strings, by region
  std::map<std::uint32_t, std::vector<GpuSpan>> devices{};       // works
  std::map<std::uint32_t, std::vector<GpuSpan>> in_calls{};      // of threads, without overlaps
  std::map<std::uint32_t, std::vector<GpuSpan>> gaps{};          // of devices, by thread

  Timestamp time(std::uint64_t ticks) const {
    return std::clamp(clock.to_time(ticks), life.begin, std::max(life.begin, life.end));
  }
  // Not: a record that was handed out before its end, and one with an end after the process's.
  bool has_ended(const GpuRecord& record) const {
    return record.end >= record.start &&
           clock.to_time(record.end) <= std::max(life.begin, life.end);
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
  // The same. REQUIRES: all calls were added.
  Thread thread(std::uint64_t id, std::uint64_t then) const {
    const std::uint32_t index = thread_of(id, then);
    if (index != UINT32_MAX) return {index, {}};
    const auto found = native.find(id);
    return found == native.end() ? Thread{} : Thread{{}, found->second};
  }
  std::uint32_t region_of(const GpuRecord& record) {
    if (record.kind() == GpuRecordKind::kKernel) return kernel(record.value());
    const auto [known, is_new] = copies.try_emplace(record.what >> 48, 0);
    if (is_new) {
      const std::string name =
          record.kind() == GpuRecordKind::kSet ? "set memory" : copy_name(record.detail());
      known->second = definitions.region(name, kGpuCopies, RegionRole::kFunction, name);
    }
    return known->second;
  }
  std::uint32_t call(std::uint64_t text) {
    const auto [known, is_new] = functions.try_emplace(text, 0);
    if (is_new) {
      const std::string& name = data.texts[text];
      known->second = definitions.region(name, kGpuCalls, role_of(name), name);
    }
    return known->second;
  }
  std::uint32_t name_of_region(std::uint32_t region) {
    const auto [known, is_new] = names.try_emplace(region, 0);
    if (is_new) known->second = definitions.string(definitions.region(region).name);
    return known->second;
  }
};

GpuTimeline::GpuTimeline(const spool::GpuData& data, const spool::ProcessDefinitions& process,
                         const ProcessClock& clock, const Life& life, GpuDefinitions& definitions)
    : idle_ids_{definitions.metric(kGpuIdleTime, "ns"), definitions.first_region()},
      queue_metric_(definitions.metric(kGpuQueueTime, "ns")),
      bytes_metric_(definitions.metric(kGpuBytes, "bytes")),
      lost_(data.lost),
      left_(data.left) {
  Building building{data, process, clock, life, definitions};
  for (const GpuRecord& record : data.records) {
    if (record.kind() != GpuRecordKind::kCall) continue;
    building.calls.try_emplace(record.correlation, &record);
  }
  building.waits.emplace(data, building.calls);
  building.memory.emplace(data);
  lost_ += building.waits->lost();
  for (const GpuRecord& record : data.records) {
    if (record.is_work()) add_work(record, building);
  }
  for (const GpuRecord& record : data.records) {
    if (record.kind() == GpuRecordKind::kCall) add_call(record, building);
  }
  for (auto& [thread, calls] : calls_) sort_calls(calls);
  for (NativeThread& thread : native_) sort_calls(thread.calls);
  add_ranges(building);
  find_feeders(building);
  put_queues_in_order();
  measure_devices(building);
  counters_ = device_counters(
      data, [&](std::uint64_t ticks) { return building.time(ticks); },
      [&](const GpuCounterMetric& one) { return definitions.metric(one.name, one.unit); });
}

void GpuTimeline::add_work(const GpuRecord& record, Building& b) {
  if (!b.has_ended(record)) {
    ++lost_;
    return;
  }
  const spool::GpuPlace& place = b.data.places[record.place];
  const auto [queue, is_new] = b.queues.try_emplace(record.place, queues_.size());
  if (is_new) {
    queues_.push_back({queue_name(place.device, place.queue), place.device, place.context});
    b.feeders.emplace_back();
  }
  GpuWork work{b.time(record.start), b.time(record.end), b.region_of(record)};
  work.copy = copy_of(record);
  if (const auto call = b.calls.find(record.correlation); call != b.calls.end()) {
    const std::uint64_t begun = ticks(b.clock.to_time(call->second->start));
    const std::uint64_t start = ticks(b.clock.to_time(record.start));
    work.queue_ns = start - std::min(start, begun);
    auto& feeding = b.feeders[queue->second][call->second->place];
    ++feeding.works;
    feeding.then = call->second->start;
  }
  if (record.kind() != GpuRecordKind::kKernel) work.bytes = record.value();
  Started& started = b.started[record.correlation];
  started.various = started.works != 0 && (started.various || started.region != work.region);
  started.region = work.region;
  if (record.kind() == GpuRecordKind::kKernel) {
    started.graph = std::max(started.graph, b.data.launches[record.value()].graph);
  }
  started.gpu_ns += b.clock.duration(record.end - record.start);
  ++started.works;
  b.devices[place.device].push_back({work.start, work.end, record.correlation});
  queues_[queue->second].works.push_back(work);
}

void GpuTimeline::add_call(const GpuRecord& record, Building& b) {
  GpuCall call{b.time(record.start), b.time(record.end), b.call(record.value())};
  // Of several calls with this number, the first.
  if (b.calls.at(record.correlation) == &record) add_facts(call, record.correlation, b);
  const std::uint64_t id = b.data.places[record.place].thread;
  const std::uint32_t thread = b.thread_of(id, record.start);
  if (thread != UINT32_MAX) return calls_[thread].push_back(call);
  const auto [native, is_new] = b.native.try_emplace(id, native_.size());
  if (is_new) native_.push_back({"native thread " + std::to_string(id), id});
  native_[native->second].calls.push_back(call);
}

// Parameters come first, as they choose the call path of the metrics.
void GpuTimeline::add_facts(GpuCall& call, std::uint32_t correlation, Building& b) {
  call.first_fact = facts_.size();
  const auto text = [&](const char* parameter, std::uint32_t string) {
    facts_.push_back({EventKind::kParameterString, b.definitions.parameter(parameter), string});
  };
  const auto number = [&](const char* metric, const char* unit, std::uint64_t value) {
    facts_.push_back({EventKind::kMetric, b.definitions.metric(metric, unit), value});
  };
  const auto started = b.started.find(correlation);
  const GpuWaitOfCall* const wait = b.waits->of(correlation);
  const GpuMemoryOfCall* const memory = b.memory->of(correlation);
  if (started != b.started.end() && started->second.graph != 0) {
    text(kGpuStarted, b.definitions.string(kGpuGraph + std::to_string(started->second.graph)));
  } else if (started != b.started.end() && !started->second.various) {
    text(kGpuStarted, b.name_of_region(started->second.region));
  }
  if (wait != nullptr && !wait->what.empty()) text(kGpuWaitsFor, b.definitions.string(wait->what));
  if (started != b.started.end()) number(kGpuTime, "ns", started->second.gpu_ns);
  if (wait != nullptr && wait->ticks != 0) {
    number(kGpuWaitTime, "ns", b.clock.duration(wait->ticks));
  }
  if (memory != nullptr) {
    number(kGpuMemory, "bytes", memory->held);
    if (memory->allocated != 0) number(kGpuAllocated, "bytes", memory->allocated);
    if (memory->at_peak != 0) number(kGpuAtPeak, "bytes", memory->at_peak);
    if (memory->at_end != 0) number(kGpuAtEnd, "bytes", memory->at_end);
  }
  call.facts = static_cast<std::uint32_t>(facts_.size() - call.first_fact);
}

void GpuTimeline::find_feeders(const Building& b) {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const auto& feeders = b.feeders[i];
    const auto most = std::ranges::max_element(
        feeders, {}, [](const auto& feeder) { return feeder.second.works; });
    if (most == feeders.end()) continue;
    queues_[i].feeder = b.thread(b.data.places[most->first].thread, most->second.then);
  }
}

// Kernels of one queue may overlap where a graph has started them.
void GpuTimeline::put_queues_in_order() {
  for (Queue& queue : queues_) {
    std::ranges::stable_sort(queue.works, {}, &GpuWork::start);
    Timestamp last{};
    for (GpuWork& work : queue.works) {
      const Timestamp start = std::max(work.start, last);
      // The call is found by it.
      if (work.queue_ns) *work.queue_ns += ticks(start) - ticks(work.start);
      work.start = start;
      last = work.end = std::max(work.end, work.start);
    }
  }
}

// `label`: the id plus 1; 0: none.
void GpuTimeline::add_label(GpuCall& range, std::uint32_t label, Building& b) {
  if (label == 0) return;
  range.first_fact = facts_.size();
  const auto add = [&](const char* parameter, std::uint32_t text) {
    if (text == spool::kGpuNone) return;
    facts_.push_back({EventKind::kParameterString, b.definitions.parameter(parameter),
                      b.definitions.string(b.data.texts[text])});
  };
  add(kGpuDomain, b.data.labels[label - 1].domain);
  add(kGpuCategory, b.data.labels[label - 1].category);
  range.facts = static_cast<std::uint32_t>(facts_.size() - range.first_fact);
}

// A lane of a thread takes a range that lies inside its open ones, or behind them. Of more ranges
// that are open at once than lanes, the later ones are left out.
void GpuTimeline::add_ranges(Building& b) {
  constexpr std::size_t kMostLanes = 64;
  struct Named {
    std::vector<GpuCall> ranges{};
    std::uint64_t then = 0;  // of one of them
  };
  std::map<std::uint64_t, Named> threads;
  for (const GpuRecord& record : b.data.records) {
    if (record.kind() != GpuRecordKind::kRange || !b.has_ended(record)) continue;
    const std::string& name = b.data.texts[record.value()];
    GpuCall range{b.time(record.start), b.time(record.end),
                  b.definitions.region(name, kGpuRanges, RegionRole::kFunction, name)};
    add_label(range, record.correlation, b);
    Named& named = threads[b.data.places[record.place].thread];
    named.ranges.push_back(range);
    named.then = record.start;
  }
  for (auto& [thread, named] : threads) {
    auto& [ranges, then] = named;
    sort_calls(ranges);
    const std::size_t first = lanes_.size();
    std::vector<std::vector<Timestamp>> open;  // the ends of each lane
    for (const GpuCall& range : ranges) {
      std::size_t lane = 0;
      for (; lane < open.size(); ++lane) {
        auto& ends = open[lane];
        while (!ends.empty() && ends.back() <= range.start) ends.pop_back();
        if (ends.empty() || range.end <= ends.back()) break;
      }
      if (lane == kMostLanes) continue;
      if (lane == open.size()) {
        open.emplace_back();
        lanes_.push_back({lane_name(thread, lane), b.thread(thread, then)});
      }
      open[lane].push_back(range.end);
      lanes_[first + lane].ranges.push_back(range);
    }
  }
}

void GpuTimeline::measure_devices(Building& b) {
  for (const auto& [thread, calls] : calls_) {
    std::vector<GpuSpan>& spans = b.in_calls[thread];
    for (const GpuCall& call : calls) {
      const bool inside = !spans.empty() && call.start < spans.back().end;
      if (!inside) spans.push_back({call.start, call.end});
      spans.back().end = std::max(spans.back().end, call.end);
    }
  }
  for (auto& [id, works] : b.devices) {
    GpuDeviceUse& device = devices_.emplace_back();
    device.device = id;
    device.works = works.size();
    const auto named = std::ranges::find(b.data.devices, id, &spool::GpuDeviceName::id);
    if (named != b.data.devices.end()) {
      device.name = named->name;
      device.memory = named->memory;
    }
    const auto peak = b.memory->peaks().find(id);
    if (peak != b.memory->peaks().end()) device.peak = peak->second;
    const std::vector<GpuSpan> gaps = idle_spans(works, b.life.begin, b.life.end);
    device.busy_ns = ticks(std::max(b.life.begin, b.life.end)) - ticks(b.life.begin);
    for (const GpuSpan& gap : gaps) device.busy_ns -= ticks(gap.end) - ticks(gap.start);
    add_gaps(device, gaps, b);
  }
  for (const auto& [thread, gaps] : b.gaps) idle_[thread] = joined_idle(gaps);
}

// The idle time before a work belongs to the thread that started the work. Where that thread has
// run no Python, or is not known, it belongs to the measured thread with the last call before.
void GpuTimeline::add_gaps(GpuDeviceUse& device, const std::vector<GpuSpan>& gaps, Building& b) {
  const auto last_caller = [&](Timestamp time) {
    std::uint32_t found = UINT32_MAX;
    Timestamp latest{};
    for (const auto& [thread, calls] : b.in_calls) {
      const auto after = std::ranges::upper_bound(calls, time, {}, &GpuSpan::start);
      if (after == calls.begin() || (after - 1)->start < latest) continue;
      latest = (after - 1)->start;
      found = thread;
    }
    return found;
  };
  for (const GpuSpan& gap : gaps) {
    std::uint32_t thread = UINT32_MAX;
    if (const auto call = b.calls.find(gap.correlation); call != b.calls.end()) {
      const GpuRecord& record = *call->second;
      thread = b.thread_of(b.data.places[record.place].thread, record.start);
    }
    if (thread == UINT32_MAX) thread = last_caller(gap.end);
    if (thread == UINT32_MAX) continue;  // no measured thread has called: Python did not keep it
    device.waits_ns += outside_ns(gap, b.in_calls[thread]);
    b.gaps[thread].push_back(gap);
  }
}

PendingGpuCalls GpuTimeline::pending_calls(std::uint32_t thread) const noexcept {
  const auto found = calls_.find(thread);
  if (found == calls_.end()) return {{}, facts_};
  return {found->second, facts_};
}

PendingGpuIdle GpuTimeline::pending_idle(std::uint32_t thread) const noexcept {
  const auto found = idle_.find(thread);
  return found == idle_.end() ? PendingGpuIdle() : PendingGpuIdle(found->second);
}

}  // namespace timeloom::weave
