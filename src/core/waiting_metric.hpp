// Waiting in definitions, which recorder and readers make: its metric, and the region of a task
// that waits. Plain functions.
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

}  // namespace timeloom
