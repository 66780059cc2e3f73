#include "profile/samples/sampled_visits.hpp"

#include <cmath>
#include <map>

#include "core/samples/sampled_time.hpp"

namespace timeloom::profile {
namespace {

std::uint64_t in_ticks(double ns, const ClockProperties& clock) {
  return static_cast<std::uint64_t>(
      std::llround(ns * 1e-9 * static_cast<double>(clock.ticks_per_second)));
}

void count_samples(LocationProfile& location, const Definitions& definitions) {
  std::map<NodeId, const MetricStatistics*> samples;
  for (const MetricCell& cell : location.metrics) {
    const std::uint32_t metric = cell.metric.value();
    if (metric < definitions.metrics.size() && is_sampled_time(definitions.metrics[metric])) {
      samples[cell.node] = &cell.statistics;
    }
  }
  for (Cell& cell : location.cells) {
    Statistics counted{.inclusive = cell.statistics.inclusive};
    if (const auto found = samples.find(cell.node); found != samples.end()) {
      counted.visits = found->second->count;
      counted.min = in_ticks(found->second->min, definitions.clock);
      counted.max = in_ticks(found->second->max, definitions.clock);
    }
    cell.statistics = counted;
  }
}

}  // namespace

void count_samples(CallTree& tree) {
  if (!has_sampled_calls(tree.definitions)) return;
  for (LocationProfile& location : tree.locations) count_samples(location, tree.definitions);
}

}  // namespace timeloom::profile
