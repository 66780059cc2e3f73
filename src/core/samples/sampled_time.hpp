// The metric of a run whose calls are made of samples: each sample has the CPU time that it stands
// for as a value, in the function that was interrupted. Constants and a pure function.
#pragma once

#include "core/definitions.hpp"

namespace timeloom {

inline constexpr char kSampledTimeMetric[] = "sampled time";
inline constexpr char kSampledTimeUnit[] = "ns";

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
