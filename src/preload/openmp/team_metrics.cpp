#include "preload/openmp/team_metrics.hpp"

#include <atomic>
#include <chrono>
#include <new>

#include "core/teams/openmp_metrics.hpp"
#include "record/measurement.hpp"

namespace timeloom::openmp {
namespace {

constexpr unsigned kNumberShift = 32;

// The number of the measurement that a metric is defined in, and its id there.
struct KnownMetric {
  const char* name;
  const char* unit;
  std::atomic<std::uint64_t> state = 0;
};
constinit KnownMetric g_fork{kOpenMpFork, "ns"}, g_team{kOpenMpTeam, "threads"};

MetricId id_of(KnownMetric& metric) noexcept try {
  const std::uint64_t number = record::measurement_number();
  const std::uint64_t known = metric.state.load(std::memory_order_relaxed);
  if (known >> kNumberShift == number) return MetricId{static_cast<std::uint32_t>(known)};
  const MetricId id = record::define_metric(metric.name, metric.unit, MetricValueType::kUint64);
  metric.state.store(number << kNumberShift | id.value(), std::memory_order_relaxed);
  return id;
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace

TeamMetrics team_metrics() noexcept { return {id_of(g_fork), id_of(g_team)}; }

std::uint64_t clock_ns() noexcept {
  using std::chrono::nanoseconds;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<nanoseconds>(now).count());
}

}  // namespace timeloom::openmp
