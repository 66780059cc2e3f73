// Waiting in definitions, which recorder and readers make: its metric, and the regions of a task
// that waits and of a thread that runs one. Plain functions.
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

// The region that a task of asyncio or trio is in, on its own location, until it goes on.
inline constexpr char kSuspended[] = "suspended";
inline bool is_suspension(const Region& region) noexcept {
  return region.paradigm == Paradigm::kMeasurement && region.name == kSuspended;
}

// The region at the end of a location for the time in which nobody has looked at the clocks of its
// thread: neither work nor waiting.
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

// The region that a thread is in, on its own location, while it runs a task: what it works and
// waits then is on the location of the task. A lane has the region of a function, with its file.
inline constexpr char kTaskRun[] = "task";
inline bool is_task_run(const Region& region) noexcept {
  return region.paradigm == Paradigm::kMeasurement && region.name == kTaskRun &&
         region.file.empty();
}

}  // namespace timeloom
