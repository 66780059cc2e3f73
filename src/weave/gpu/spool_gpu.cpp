// The part of SpoolSource for GPUs: a location for each queue, and for each thread that is known by
// its calls only.
#include <algorithm>
#include <map>

#include "weave/gpu/gpu_names.hpp"
#include "weave/gpu/gpu_waits.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace {

std::vector<Event> events_of(const GpuTimeline::Queue& queue, const GpuTimeline& gpu,
                             ContextId context) {
  std::vector<Event> events;
  events.reserve(4 * queue.works.size());
  for (const GpuWork& work : queue.works) {
    events.push_back({work.start, EventKind::kEnter, work.region, 0});
    if (work.queue_ns) {
      events.push_back({work.start, EventKind::kMetric, gpu.queue_metric(), *work.queue_ns});
    }
    if (work.bytes) {
      events.push_back({work.start, EventKind::kMetric, gpu.bytes_metric(), *work.bytes});
    }
    if (work.copy) {
      events.push_back({work.start, *work.copy, context.value(), work.bytes.value_or(0)});
      events.push_back({work.end, EventKind::kRmaDone, context.value(), 0});
    }
    events.push_back({work.end, EventKind::kLeave, work.region, 0});
  }
  return events;
}

std::vector<Event> events_of(const std::vector<GpuCall>& sorted, const GpuTimeline& gpu) {
  std::vector<Event> events;
  PendingGpuCalls calls{sorted, gpu.facts()};
  GpuStream().close(calls, Timestamp{UINT64_MAX}, events);
  return events;
}

AcceleratorContext context_of(const GpuTimeline::Queue& queue, LocationGroupId process) {
  return {kGpuContext + std::to_string(queue.context), device_number(queue.device), process};
}

// Where the thread is not known: the first one of the process.
LocationId location_of(const GpuTimeline::Thread& thread, const WovenProcess& process) {
  if (thread.index) return location_id(process, *thread.index);
  if (!thread.native) return location_id(process, process.locations.front());
  const std::size_t place = process.gpu->queues().size() + *thread.native;
  return location_id(process, process.first_gpu_location + static_cast<std::uint32_t>(place));
}

// Numbers, then the name, which may contain spaces.
std::string line_of(const WovenProcess& process, const GpuDeviceUse& device) {
  std::string line;
  for (const std::uint64_t number :
       {std::uint64_t{process.group.value()}, std::uint64_t{device.device}, device.works,
        device.busy_ns, device.waits_ns, device.peak, device.memory}) {
    line += std::to_string(number) + ' ';
  }
  line += device.name;
  std::ranges::replace(line, '\n', ' ');
  return line + '\n';
}

std::string lines_of(const WovenProcess& process, const GpuDeviceCounters& device) {
  std::string lines;
  for (std::size_t i = 0; i < device.sums.size(); ++i) {
    const GpuCounterSum& sum = device.sums[i];
    if (sum.values == 0) continue;
    for (const std::uint64_t number :
         {std::uint64_t{process.group.value()}, std::uint64_t{device.device}, sum.values, sum.sum,
          sum.most}) {
      lines += std::to_string(number) + ' ';
    }
    lines += std::string(kGpuCounterMetrics[i].name) + '\n';
  }
  return lines;
}

}  // namespace

void SpoolSource::add_gpus() {
  GpuDefinitions definitions(definitions_);
  for (Process& process : processes_) {
    const spool::GpuData data = std::move(process.gpu_data);
    if (data.damaged && process.reader->definitions().ended) ++damaged_segments_;
    if (data.records.empty() && data.lost == 0) continue;
    process.gpu = std::make_unique<const GpuTimeline>(
        data, process.reader->definitions(), process.clock,
        GpuTimeline::Life{process.begin, process.end}, definitions);
  }
}

// In the order of replay_gpu().
void SpoolSource::add_gpu_locations(Process& process) {
  if (!process.gpu) return;
  const GpuTimeline& gpu = *process.gpu;
  const std::size_t added = gpu.queues().size() + gpu.native_threads().size() + gpu.lanes().size() +
                            gpu.counters().size();
  if (added > UINT32_MAX - process.locations.back()) {  // of a damaged or hostile spool
    process.gpu.reset();
    ++damaged_segments_;
    return;
  }
  process.first_gpu_location = process.locations.back() + 1;
  for (std::size_t i = 0; i < added; ++i) {
    process.locations.push_back(process.locations.back() + 1);
  }
  std::uint32_t index = process.first_gpu_location;
  const auto add = [&](const std::string& name, LocationType type) -> Location& {
    Location location;
    location.id = location_id(process, index++);
    location.group = process.group;
    location.name = name;
    location.type = type;
    return definitions_.locations.emplace_back(std::move(location));
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, ContextId> contexts;
  for (const auto& queue : gpu.queues()) {
    const ContextId next{static_cast<std::uint32_t>(definitions_.contexts.size())};
    const auto [context, fresh] = contexts.try_emplace({queue.device, queue.context}, next);
    if (fresh) definitions_.contexts.push_back(context_of(queue, process.group));
    Location& location = add(queue.name, LocationType::kAcceleratorStream);
    location.context = context->second;
    location.feeder = location_of(queue.feeder, process);
  }
  for (const auto& thread : gpu.native_threads()) {
    add(thread.name, LocationType::kCpuThread).thread_id = thread.id;
  }
  // Not threads of the program: their time is in the threads already.
  for (const auto& lane : gpu.lanes()) {
    add(lane.name, LocationType::kAcceleratorStream).feeder = location_of(lane.feeder, process);
  }
  for (const GpuDeviceCounters& device : gpu.counters()) {
    add("CUDA[" + std::to_string(device.device) + "]", LocationType::kMetric);
  }
}

void SpoolSource::replay_gpu(const Process& process, std::span<RunSink* const> sinks) {
  if (!process.gpu) return;
  std::uint32_t index = process.first_gpu_location;
  const auto next = [&]() -> const Location& {
    const LocationId id = location_id(process, index++);
    return *std::ranges::lower_bound(definitions_.locations, id, {}, &Location::id);
  };
  const auto replay_at = [&](const Location& location, const std::vector<Event>& events) {
    for (RunSink* const sink : sinks) {
      const std::unique_ptr<LocationSink> into = sink->open_location(location);
      into->consume(events);
      into->finish();
    }
    events_ += events.size();
  };
  const auto replay = [&](const std::vector<Event>& events) { replay_at(next(), events); };
  for (const auto& queue : process.gpu->queues()) {
    const Location& location = next();
    replay_at(location, events_of(queue, *process.gpu, location.context));
  }
  for (const auto& thread : process.gpu->native_threads()) {
    replay(events_of(thread.calls, *process.gpu));
  }
  for (const auto& lane : process.gpu->lanes()) replay(events_of(lane.ranges, *process.gpu));
  for (const GpuDeviceCounters& device : process.gpu->counters()) replay(device.events);
}

void SpoolSource::add_gpu_properties() {
  std::uint64_t busy = 0, waits = 0, devices = 0, lost = 0;
  std::string uses, counters;
  bool any = false;
  for (const Process& process : processes_) {
    if (!process.gpu) continue;
    any = true;
    for (const GpuDeviceUse& device : process.gpu->devices()) {
      ++devices;
      busy += device.busy_ns;
      waits += device.waits_ns;
      uses += line_of(process, device);
    }
    for (const GpuDeviceCounters& device : process.gpu->counters()) {
      counters += lines_of(process, device);
    }
    lost += process.gpu->lost();
    if (process.gpu->left()) definitions_.properties[kGpuLeft] = "true";
  }
  if (!any) return;
  definitions_.properties[kGpuBusy] = std::to_string(busy);
  definitions_.properties[kGpuWaits] = std::to_string(waits);
  definitions_.properties[kGpuDevices] = std::to_string(devices);
  if (!uses.empty()) definitions_.properties[kGpuDeviceUses] = std::move(uses);
  if (!counters.empty()) definitions_.properties[kGpuCounterSums] = std::move(counters);
  if (lost != 0) definitions_.properties[kGpuLost] = std::to_string(lost);
}

}  // namespace timeloom::weave
