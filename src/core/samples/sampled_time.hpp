// The metric of samples: each has the CPU time that it stands for as a value, in the function that
// was interrupted. Runs whose calls are made of samples have it in their trace, all runs with
// samples in their profile. Constants and pure functions.
#pragma once

#include "core/definitions.hpp"

namespace timeloom {

inline constexpr char kSampledTimeMetric[] = "sampled time";
inline constexpr char kSampledTimeUnit[] = "ns";

inline Metric sampled_time_metric() {
  Metric metric;
  metric.name = kSampledTimeMetric;
  metric.unit = kSampledTimeUnit;
  metric.description = "CPU time that a sample stands for";
  metric.type = MetricValueType::kUint64;
  return metric;
}

inline bool is_sampled_time(const Metric& metric) {
  return !metric.sampled() && metric.name == kSampledTimeMetric &&
         metric.type == MetricValueType::kUint64;
}

// The property of such a run; its value tells where stacks are taken: kStacksInHandler.
inline constexpr char kSampledCalls[] = "timeloom::sampling";
inline constexpr char kStacksInHandler[] = "handler";

// How often functions were called is not known in such a run; reports show samples there.
inline bool has_sampled_calls(const Definitions& definitions) {
  return definitions.properties.contains(kSampledCalls);
}

inline const char* visits_word(const Definitions& definitions) {
  return has_sampled_calls(definitions) ? "samples" : "visits";
}

}  // namespace timeloom
