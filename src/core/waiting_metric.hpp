// The definitions for waiting, which the recorder and readers share: the metric of waiting time,
// the region of a suspended task, and the region of a thread that runs a task. Plain functions.
#pragma once

#include "core/definitions.hpp"

namespace timeloom {

// The metric of the time in which a thread did not run.
inline Metric waiting_metric() {
  Metric metric;
  metric.name = kWaitingMetric;
  metric.unit = "s";
  metric.description = "Time in which the thread did not run, of gaps of 100 us and more";
  metric.type = MetricValueType::kUint64;
  metric.source = MetricSource::kOther;
  metric.mode = MetricMode::kAccumulatedStart;
  metric.exponent = -9;
  metric.set = "thread:waiting";
  return metric;
}

// The region in which a task of asyncio or trio is, on its own location, until it is resumed.
inline constexpr char kSuspended[] = "suspended";
inline bool is_suspension(const Region& region) noexcept {
  return region.paradigm == Paradigm::kMeasurement && region.name == kSuspended;
}

// The region at the end of a location for time after the last reading of the thread's clocks, so
// that it is known neither as work nor as waiting.
inline constexpr char kUnmeasured[] = "unmeasured";
inline Region unmeasured_region() {
  Region region;
  region.name = region.canonical_name = kUnmeasured;
  region.group = "measurement";
  region.paradigm = Paradigm::kMeasurement;
  region.role = RegionRole::kArtificial;
  return region;
}
inline bool is_unmeasured(const Region& region) noexcept {
  return region.paradigm == Paradigm::kMeasurement && region.name == kUnmeasured;
}

// The region in which a thread is, on its own location, while it runs a task: its work and waiting
// are then on the location of the task. On a lane, a function has this name only with a file.
inline constexpr char kTaskRun[] = "task";
inline bool is_task_run(const Region& region) noexcept {
  return region.paradigm == Paradigm::kMeasurement && region.name == kTaskRun &&
         region.file.empty();
}

}  // namespace timeloom
