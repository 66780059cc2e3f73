// The metrics of teams, core/teams/openmp_metrics.hpp, of both kinds of runtimes.
//
// Any thread; nothing throws.
#pragma once

#include <cstdint>

#include "core/ids.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::openmp {

// Their ids in the running measurement. An id stays undefined where memory has run out.
struct TeamMetrics {
  MetricId fork, size;
};
// REQUIRES: not called while the thread records. After the first call in a measurement without a
// lock.
TeamMetrics team_metrics() noexcept;

// Nanoseconds of a clock that all threads of the process share.
std::uint64_t clock_ns() noexcept;

// A value, in the innermost region.
inline void put_metric(record::WrapperScope& scope, MetricId metric, std::uint64_t value) noexcept {
  if (metric.defined()) scope.put(ExtendedKind::kMetric, {metric.value(), value});
}

}  // namespace timeloom::openmp
