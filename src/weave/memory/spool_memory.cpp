// The part of SpoolSource for memory.
#include <algorithm>

#include "weave/memory/memory_amounts.hpp"
#include "weave/memory/memory_curve.hpp"
#include "weave/memory/memory_growth.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace {

profile::MetricStatistics counted(std::uint64_t count, std::uint64_t bytes, std::uint64_t largest) {
  profile::MetricStatistics statistics;
  statistics.count = count;
  statistics.sum = static_cast<double>(bytes);
  statistics.max = static_cast<double>(largest);
  return statistics;
}

// Records may be damaged.
std::uint64_t whole(double bytes) {
  return bytes >= 0 && bytes < 0x1p63 ? static_cast<std::uint64_t>(bytes) : 0;
}

// What each path held, where the owner of each block is known.
std::vector<profile::MetricStatistics> owned(const spool::MemoryData& data, bool at_peak) {
  std::vector<profile::MetricStatistics> held;
  for (const spool::MemoryAmounts& path : data.paths) {
    held.push_back(at_peak ? counted(path.peak_held_blocks, path.peak_held, 0)
                           : counted(path.held_blocks, path.held, 0));
  }
  return held;
}

double sum_of(const std::vector<profile::MetricStatistics>& amounts) {
  double sum = 0;
  for (const profile::MetricStatistics& one : amounts) sum += one.sum;
  return sum;
}

void add_apart(ProcessMemory::Apart& apart, const spool::MemoryAmounts& from,
               const MemoryOfPath& path) {
  apart.allocations += from.allocations;
  apart.allocated += from.allocated;
  apart.frees += from.frees;
  apart.freed += from.freed;
  apart.at_peak += whole(path.at_peak.sum);
  apart.blocks_at_peak += path.at_peak.count;
  apart.at_end += whole(path.at_end.sum);
  apart.blocks_at_end += path.at_end.count;
}

}  // namespace

std::uint64_t SpoolSource::since_begin(const Process& process, std::uint64_t ticks) const {
  const std::uint64_t time = timeloom::ticks(process.clock.to_time(ticks));
  return time - std::min(time, definitions_.clock.begin);
}

// The number of the process's sampled births and deaths at the peak of the run.
std::uint64_t SpoolSource::blocks_at(const Process& process, const ProcessMemory& run) const {
  const spool::MemoryData& data = process.memory;
  if (since_begin(process, data.peak_ticks) == run.peak_time) {
    return std::min<std::uint64_t>(data.peak_blocks, data.blocks.size());
  }
  if (last_of_memory(process) <= run.peak_time) return 0;
  const auto later = std::ranges::find_if(data.blocks, [&](const spool::MemoryBlock& block) {
    return since_begin(process, block.ticks) > run.peak_time;
  });
  return static_cast<std::uint64_t>(later - data.blocks.begin());
}

// A killed process may have allocated after its last event.
std::uint64_t SpoolSource::last_of_memory(const Process& process) const {
  const spool::MemoryData& data = process.memory;
  if (data.end != 0) return since_begin(process, data.end);
  return std::max(ticks(process.end) - definitions_.clock.begin,
                  since_begin(process, std::max(process.memory_last, data.peak_ticks)) + 1);
}

// `run`: the peak of the run. Where the owner of each block is known, the bytes of call paths are
// known at the peak of the process only.
void SpoolSource::add_memory_of(const Process& process, const ProcessMemory& run) {
  const spool::MemoryData& data = process.memory;
  const auto at_peak = data.all ? owned(data, true) : held_after(data, blocks_at(process, run));
  const auto at_end = data.all ? owned(data, false) : held_after(data, data.blocks.size());
  const auto temporary = temporary_blocks(data, process.clock);
  ProcessMemory facts;
  std::vector<MemoryOfPath> paths(data.paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const spool::MemoryAmounts& from = data.paths[i];
    if (i >= spool::kFirstMemoryPath && from.region == spool::kMemoryPython) {
      paths[from.parent].python_allocated = counted(from.allocations, from.allocated, from.largest);
      paths[from.parent].python_freed = counted(from.frees, 0, 0);
      continue;
    }
    MemoryOfPath& path = paths[i];
    if (i >= spool::kFirstMemoryPath && from.region != spool::kMemoryThread) {
      path.parent = memory_.size() + from.parent;
      path.region = RegionId{process.ids.regions[from.region]};
    }
    path.location = location_id(process, from.location);
    path.allocated = counted(from.allocations, from.allocated, from.largest);
    path.freed = counted(from.frees, from.freed, 0);
    if (from.highest != 0) path.heap.add_value(static_cast<double>(from.highest));
    path.at_peak = at_peak[i];
    path.at_end = at_end[i];
    path.temporary = temporary[i];
    if (path.region.defined()) continue;
    add_apart(i == spool::kMemoryOwn ? facts.own : facts.other, from, path);
  }
  facts.interval = data.interval;
  facts.at_start = data.live_at_start;
  facts.at_end = data.live;
  facts.resident_at_end = data.resident;
  facts.peak = data.peak;
  facts.peak_time = since_begin(process, data.peak_ticks);
  facts.lost = data.lost;
  facts.foreign = data.foreign ? 1 : 0;
  facts.ended = data.end != 0 ? 1 : 0;
  if (data.all) {
    facts.all = data.each ? kEachBlock : 1;
    facts.before_at_peak = whole(static_cast<double>(data.peak) - sum_of(at_peak));
    facts.before_at_end = whole(static_cast<double>(data.live) - sum_of(at_end));
  }
  definitions_.properties[memory_property(process.group.value())] = to_text(facts);
  std::ranges::move(paths, std::back_inserter(memory_));
}

void SpoolSource::add_growth_of(const Process& process, std::uint64_t end, MemoryGrowth& most) {
  const spool::MemoryData& data = process.memory;
  const auto found = find_growth(data, end);
  if (!found || found->to - found->from <= most.to - most.from) return;
  most = MemoryGrowth{};
  most.process = process.group.value();
  most.from = found->from;
  most.to = found->to;
  most.time = since_begin(process, found->to_ticks) - since_begin(process, found->from_ticks);
  most.of_region = whole(found->of_path);
  const spool::MemoryAmounts& path = data.paths[found->path];
  if (found->path < spool::kFirstMemoryPath || path.region == spool::kMemoryThread) return;
  most.region = definitions_.regions[process.ids.regions[path.region]].name;
}

// Logs are large, so only one is in memory at a time.
void SpoolSource::open_memory(Process& process) {
  process.memory = spool::read_memory(process.directory);
  process.memory_last = process.memory.last_ticks();
  process.memory_blocks = process.memory.blocks.size();
  process.memory.blocks = std::vector<spool::MemoryBlock>();
}

std::vector<spool::MemoryBlock> SpoolSource::memory_log(const Process& process) {
  std::vector<spool::MemoryBlock> blocks = spool::read_memory(process.directory).blocks;
  blocks.resize(std::min<std::uint64_t>(blocks.size(), process.memory_blocks));
  return blocks;
}

// Of processes that have a trace.
void SpoolSource::add_memory_curves() {
  const auto has_trace = [](const Process& process) {
    return std::ranges::all_of(process.profiles.profiles, &spool::ProfileData::continues);
  };
  const auto has_curve = [&](const Process& process) {
    return !process.memory.paths.empty() && has_trace(process);
  };
  if (std::ranges::none_of(processes_, has_curve)) return;
  Metric metric;
  metric.name = kProcessMemory;
  metric.description = "bytes that the process has allocated and not freed";
  metric.unit = "bytes";
  metric.type = MetricValueType::kUint64;
  metric.source = MetricSource::kOther;
  metric.mode = MetricMode::kAbsoluteNext;
  definitions_.metrics.push_back(std::move(metric));
  memory_metric_ = MetricId{static_cast<std::uint32_t>(definitions_.metrics.size() - 1)};
  for (Process& process : processes_) process.has_memory_curve = has_curve(process);
}

void SpoolSource::add_memory_location(Process& process) {
  if (!process.has_memory_curve) return;
  if (process.locations.back() == UINT32_MAX) {  // of a damaged or hostile spool
    process.has_memory_curve = false;
    ++damaged_segments_;
    return;
  }
  process.memory_location = process.locations.back() + 1;
  process.locations.push_back(process.memory_location);
  Location location;
  location.id = location_id(process, process.memory_location);
  location.group = process.group;
  location.name = process.memory.each ? kPerProcess : kProcessMemory;
  location.type = LocationType::kMetric;
  definitions_.locations.push_back(std::move(location));
}

void SpoolSource::replay_memory(const Process& process, std::span<RunSink* const> sinks) {
  if (!process.has_memory_curve) return;
  spool::MemoryData data = process.memory;
  data.blocks = memory_log(process);
  const std::vector<Event> curve =
      memory_curve(data, process.clock, process.begin, process.end, memory_metric_);
  const LocationId id = location_id(process, process.memory_location);
  const auto location = std::ranges::lower_bound(definitions_.locations, id, {}, &Location::id);
  for (RunSink* const sink : sinks) {
    const std::unique_ptr<LocationSink> into = sink->open_location(*location);
    into->consume(curve);
    into->finish();
  }
  events_ += curve.size();
}

// The pages of a forked child are its parent's until one of them writes to them: what it held at
// its start counts for the parent, as long as the child has not freed it.
void SpoolSource::add_held(CommonPeak& common, const Process& process) const {
  const spool::MemoryData& data = process.memory;
  const std::size_t number = process.group.value();
  std::uint64_t shared = data.forked ? data.live_at_start : 0;
  const auto add = [&](std::uint64_t ticks, std::uint64_t live) {
    shared = std::min(shared, live);
    common.add(since_begin(process, ticks), number, live - shared);
  };
  add(data.start, data.live_at_start);
  for (std::size_t i = 0; i < data.blocks.size(); ++i) {
    if (i == data.peak_blocks) add(data.peak_ticks, data.peak);
    add(data.blocks[i].ticks, data.blocks[i].live);
  }
  if (data.peak_blocks >= data.blocks.size()) add(data.peak_ticks, data.peak);
}

void SpoolSource::add_memory() {
  CommonPeak common;
  MemoryGrowth growth;
  for (Process& process : processes_) {
    spool::MemoryData& data = process.memory;
    if (data.damaged) ++damaged_segments_;
    if (data.paths.empty()) continue;
    data.blocks = memory_log(process);
    add_held(common, process);
    common.add(last_of_memory(process), process.group.value(), 0);
    const std::uint64_t last_ticks =
        data.end != 0 ? data.end : (data.blocks.empty() ? 0 : data.blocks.back().ticks);
    add_growth_of(process, last_ticks, growth);
    data.blocks = std::vector<spool::MemoryBlock>();
  }
  const ProcessMemory run = common.find();
  for (Process& process : processes_) {
    if (process.memory.paths.empty()) continue;
    process.memory.blocks = memory_log(process);
    add_memory_of(process, run);
    process.memory_paths = process.memory.paths.size();
    definitions_.properties[kRunMemory] = to_text(run);
    process.memory.blocks = std::vector<spool::MemoryBlock>();
    process.memory.paths = std::vector<spool::MemoryAmounts>();
  }
  if (growth.to != 0) definitions_.properties[kMemoryGrowth] = to_text(growth);
}

}  // namespace timeloom::weave
