// The counters of devices over time: events of metrics on a location of each device, and their mean
// and most.
//
// Plain values and a pure function, for any thread. Throws only std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/event.hpp"
#include "spool/gpu_reader.hpp"

namespace timeloom::weave {

// The name and unit of a counter's metric.
struct GpuCounterMetric {
  const char* name;
  const char* unit;
};
// By spool::GpuCounter.
inline constexpr std::array<GpuCounterMetric, spool::kGpuCounters> kGpuCounterMetrics = {
    {{"gpu_utilization", "%"},
     {"gpu_memory_utilization", "%"},
     {"gpu_memory_in_use", "bytes"},
     {"gpu_power", "mW"}}};

struct GpuCounterSum {
  std::uint64_t values = 0;
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
};

struct GpuDeviceCounters {
  std::uint32_t device = 0;
  std::vector<Event> events{};  // in order of time
  std::array<GpuCounterSum, spool::kGpuCounters> sums{};
};

// `time`: from ticks; `metric`: the id in the run of a counter's metric, asked for used ones only.
// In order of the devices.
std::vector<GpuDeviceCounters> device_counters(
    const spool::GpuData& data, const std::function<Timestamp(std::uint64_t)>& time,
    const std::function<std::uint32_t(const GpuCounterMetric&)>& metric);

}  // namespace timeloom::weave
