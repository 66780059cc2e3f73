#include "exchange/path_values.hpp"

#include <algorithm>
#include <string>

#include "core/memory/memory_facts.hpp"
#include "core/samples/estimated_time.hpp"
#include "core/waiting_metric.hpp"
#include "profile/gpu/gpu_metric.hpp"

namespace timeloom::exchange {

PathValues::PathValues(const profile::CallTree& tree) : tree_(tree) {
  const auto& metrics = tree.definitions.metrics;
  for (const Metric& metric : metrics) waiting_metrics_.push_back(metric.is_waiting());
  const auto has_metric = [&](const char* name) {
    return std::ranges::find(metrics, name, &Metric::name) != metrics.end();
  };
  if (std::ranges::any_of(metrics, &Metric::is_waiting)) {
    kinds_.insert(kinds_.end(), {PathValue::kWork, PathValue::kWaiting});
  }
  if (has_estimates(tree.definitions)) kinds_.push_back(PathValue::kEstimated);
  if (has_metric(kGpuTime)) kinds_.push_back(PathValue::kGpu);
  if (has_metric(kBytesAllocated)) {
    kinds_.insert(kinds_.end(), {PathValue::kAllocations, PathValue::kAllocated,
                                 PathValue::kHeldAtPeak, PathValue::kHeldAtEnd});
  }
}

bool PathValues::has(PathValue kind) const {
  return std::ranges::find(kinds_, kind) != kinds_.end();
}

void PathValues::read(const profile::LocationProfile& location) {
  of_nodes_.clear();
  for (const profile::SampleCell& cell : location.samples) {
    if (!waiting_metrics_[cell.metric.value()] || !cell.node.defined()) continue;
    of_nodes_[cell.node.value()].waiting += cell.value;
  }
  for (const profile::MetricCell& cell : location.metrics) {
    if (cell.node.defined()) add(of_nodes_[cell.node.value()], cell);
  }
}

void PathValues::add(Values& values, const profile::MetricCell& cell) const {
  const std::string& name = tree_.definitions.metrics[cell.metric.value()].name;
  const auto sum = static_cast<std::uint64_t>(std::clamp(cell.statistics.sum, 0.0, 0x1p62));
  if (name == kEstimatedTime) values.estimated += sum;
  if (name == kGpuTime) values.gpu += sum;
  if (name == kBytesAtPeak) values.at_peak += sum;
  if (name == kBytesHeld) values.at_end += sum;
  if (name != kBytesAllocated) return;
  values.allocated += sum;
  values.allocations += cell.statistics.count;
}

// Time that nobody has measured, and time of a thread that its task has.
bool PathValues::counts_no_time(profile::NodeId node) const {
  const RegionId id = tree_.nodes[node.value()].region;
  if (!id.defined()) return false;
  const Region& region = tree_.definitions.regions[id.value()];
  return is_unmeasured(region) || is_task_run(region);
}

std::uint64_t PathValues::value(PathValue kind, profile::NodeId node, std::uint64_t own_ns) const {
  const auto found = of_nodes_.find(node.value());
  const Values values = found == of_nodes_.end() ? Values{} : found->second;
  // Of a difference of profiles, times can be negative.
  const std::uint64_t own = profile::signed_value(own_ns) < 0 || counts_no_time(node) ? 0 : own_ns;
  const RegionId id = tree_.nodes[node.value()].region;
  const bool suspended = id.defined() && is_suspension(tree_.definitions.regions[id.value()]);
  const std::uint64_t waiting = suspended ? own : std::min(values.waiting, own);
  switch (kind) {
    case PathValue::kWork: return own - waiting;
    case PathValue::kWaiting: return waiting;
    case PathValue::kEstimated: return std::min(values.estimated, own);
    case PathValue::kGpu: return values.gpu;
    case PathValue::kAllocations: return values.allocations;
    case PathValue::kAllocated: return values.allocated;
    case PathValue::kHeldAtPeak: return values.at_peak;
    case PathValue::kHeldAtEnd: return values.at_end;
  }
  return 0;
}

}  // namespace timeloom::exchange
