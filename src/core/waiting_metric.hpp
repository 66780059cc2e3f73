// The definition of the metric of waiting, which recorder and readers make. A plain function.
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

}  // namespace timeloom
