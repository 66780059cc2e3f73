#include "tools/check/check_work.hpp"

#include <algorithm>

#include "core/regions/collection_region.hpp"

namespace timeloom::tools {

WorkFigures::WorkFigures(const profile::CallTree& tree)
    : tree_(tree), times_(work_times(tree, {})) {}

std::string WorkFigures::problem(const Rule& rule) const {
  if (rule.quantity == Quantity::kCollections && !has_collections()) {
    return "no collection of garbage is recorded in the run: none happened, or --no-gc was given";
  }
  if (rule.quantity != Quantity::kWork && rule.quantity != Quantity::kWaiting) return {};
  if (!times_.measured) return "the run has not measured for how long it waited";
  if (rule.cause && !times_.has_causes) {
    return "the run has no causes of waiting; record it with timeloom run --causes";
  }
  return {};
}

double WorkFigures::of_run(const Rule& rule) const {
  if (rule.quantity == Quantity::kCollections) return collections();
  if (rule.quantity == Quantity::kWork) return times_.all_working;
  return rule.cause ? times_.all_causes[*rule.cause] : times_.all_waiting;
}

double WorkFigures::of_region(RegionId region, WaitingCause cause) const {
  double sum = 0;
  for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
    if (tree_.nodes[i].region == region) sum += times_.causes[i][cause];
  }
  return sum;
}

bool WorkFigures::has_collections() const {
  return std::ranges::any_of(tree_.definitions.regions, is_collection);
}

// With what the program's own callbacks of the collector did.
double WorkFigures::collections() const {
  std::vector<bool> inside(tree_.nodes.size());
  double sum = 0;
  for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
    const profile::Node& node = tree_.nodes[i];
    inside[i] =
        (node.parent.defined() && inside[node.parent.value()]) ||
        (node.region.defined() && is_collection(tree_.definitions.regions[node.region.value()]));
    if (inside[i]) sum += times_.working[i] + times_.waiting[i];
  }
  return sum;
}

}  // namespace timeloom::tools
