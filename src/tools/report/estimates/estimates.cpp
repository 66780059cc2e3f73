#include "tools/report/estimates/estimates.hpp"

#include "core/samples/estimated_time.hpp"
#include "profile/on_path.hpp"
#include "profile/samples/throttled_times.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

double Estimate::error() const { return estimate_error(squares) * 1e-9; }

void Estimate::add(const Estimate& other) {
  samples += other.samples;
  seconds += other.seconds;
  squares += other.squares;
}

void Estimate::add(const profile::MetricStatistics& values) {
  add(Estimate{values.count, values.sum * 1e-9, values.squares});
}

Estimates::Estimates(const profile::CallTree& tree, const profile::LocationFilter& filter)
    : any_(has_estimates(tree.definitions)),
      own_(tree.nodes.size()),
      total_(tree.nodes.size()),
      own_of_regions_(tree.definitions.regions.size()),
      total_of_regions_(tree.definitions.regions.size()),
      below_(tree.definitions.regions.size()) {
  if (!any_) return;
  std::vector<Estimate> added(tree.nodes.size());
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    if (filter && !filter(tree.definitions.locations[i])) continue;
    for (const profile::MetricCell& cell : tree.locations[i].metrics) {
      const std::string& name = tree.definitions.metrics[cell.metric.value()].name;
      const std::size_t node = cell.node.value();
      const RegionId region = tree.nodes[node].region;
      if (name == kEstimatedTime) added[node].add(cell.statistics);
      if (name == kEstimatedTime || name == kEstimatedElsewhere) own_[node].add(cell.statistics);
      if (name == kEstimatedBelow && region.defined()) {
        below_[region.value()].add(cell.statistics);
      }
    }
  }
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const RegionId region = tree.nodes[i].region;
    if (region.defined()) own_of_regions_[region.value()].add(own_[i]);
  }
  add_totals(tree, added);
}

void Estimates::add_totals(const profile::CallTree& tree, const std::vector<Estimate>& added) {
  std::vector<Estimate> inside = added;
  for (std::size_t i = inside.size(); i-- > 0;) {
    const profile::NodeId parent = tree.nodes[i].parent;
    if (parent.defined()) inside[parent.value()].add(inside[i]);
  }
  const std::vector<bool> estimated = profile::estimated_nodes(tree);
  profile::RegionsOnPath on_path;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const RegionId region = tree.nodes[i].region;
    const std::size_t index = region.defined() ? region.value() : below_.size();
    const bool outermost = on_path.enter(index, tree.nodes[i].depth);
    if (!region.defined() || !estimated[i]) continue;
    total_[i] = inside[i];
    if (outermost) total_of_regions_[index].add(inside[i]);
  }
  for (std::size_t i = 0; i < below_.size(); ++i) total_of_regions_[i].add(below_[i]);
}

std::string marked(const std::string& time, const Estimate& estimate) {
  return estimate.any() ? "~" + time : time;
}

std::string error_text(const Estimate& estimate, const Terminal& terminal) {
  return (terminal.unicode ? "\u00b1 " : "+- ") + duration(estimate.error(), terminal, " ") +
         " of " + plural(estimate.samples, "sample");
}

}  // namespace timeloom::tools
