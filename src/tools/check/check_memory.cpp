#include "tools/check/check_memory.hpp"

#include <algorithm>
#include <vector>

namespace timeloom::tools {

using profile::MetricStatistics;
using profile::Node;

void MemoryFigures::Sums::add(const Sums& other) {
  allocated.add(other.allocated);
  at_end.add(other.at_end);
}

// A visit inside another one of the same region is part of it. Nodes are in pre-order.
MemoryFigures::MemoryFigures(const profile::CallTree& tree)
    : facts_(memory_facts(tree)), regions_(tree.definitions.regions.size()) {
  if (!facts_.any()) return;
  std::vector<Sums> paths(tree.nodes.size());
  for (const MemoryRow& row : facts_.rows) {
    if (row.apart != nullptr) continue;
    paths[row.node.value()] = sums_of(row);
    run_.add(sums_of(row));
  }
  for (std::size_t i = paths.size(); i-- > 0;) {
    const Node& node = tree.nodes[i];
    if (node.parent.defined()) paths[node.parent.value()].add(paths[i]);
  }
  std::vector<RegionId> way;  // the regions of the open nodes
  std::vector<std::uint32_t> open(regions_.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Node& node = tree.nodes[i];
    for (; way.size() > node.depth; way.pop_back()) {
      if (way.back().defined()) --open[way.back().value()];
    }
    way.push_back(node.region);
    if (!node.region.defined()) continue;
    if (open[node.region.value()]++ == 0) regions_[node.region.value()].add(paths[i]);
  }
}

std::string MemoryFigures::problem(const Rule& rule) const {
  if (!is_of_memory(rule.quantity)) return {};
  if (facts_.any()) return {};
  return "the run has no allocations (the peak RSS is another number); record it with timeloom run "
         "--memory";
}

bool MemoryFigures::is_incomplete() const {
  return std::ranges::any_of(facts_.processes,
                             [](const auto& one) { return one.memory.lost != 0; });
}

MemoryFigures::Amount MemoryFigures::of_run(const Rule& rule) const {
  if (rule.quantity == Quantity::kPeak) return {static_cast<double>(facts_.run.peak), {}};
  return amount(rule, run_);
}

MemoryFigures::Amount MemoryFigures::of_region(const Rule& rule, RegionId region) const {
  return amount(rule, regions_[region.value()]);
}

MemoryFigures::Amount MemoryFigures::amount(const Rule& rule, const Sums& sum) const {
  const MetricStatistics& held = sum.at_end;
  if (rule.quantity == Quantity::kAllocations)
    return {static_cast<double>(sum.allocated.count), {}};
  if (rule.quantity == Quantity::kAllocated) return {sum.allocated.sum, {}};
  const double error =
      2 * sampling_error(static_cast<double>(held.count), held.min, facts_.interval());
  // Blocks of which none was sampled have less than three mean distances, with 95 %.
  const double beyond = std::max(error, 3 * facts_.interval());
  const double most = std::min(held.sum + beyond, sum.allocated.sum);
  const double value = std::min(held.sum, most);
  return {value, {std::max(0.0, std::min(value, held.sum - error)), most}};
}

}  // namespace timeloom::tools
