#include "tools/check/check_memory.hpp"

#include <algorithm>
#include <vector>

namespace timeloom::tools {
namespace {

using profile::MetricStatistics;

void add(const MemoryRow& row, MemoryRow& sum) {
  sum.allocated.add(row.allocated);
  sum.at_end.add(row.at_end);
}

}  // namespace

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
  MemoryRow sum;
  for (const MemoryRow& row : facts_.rows) {
    if (row.apart == nullptr) add(row, sum);
  }
  return amount(rule, sum);
}

MemoryFigures::Amount MemoryFigures::of_region(const Rule& rule, RegionId region) const {
  std::vector<bool> inside(tree_.nodes.size());
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const profile::Node& node = tree_.nodes[i];
    inside[i] = node.region == region || (node.parent.defined() && inside[node.parent.value()]);
  }
  MemoryRow sum;
  for (const MemoryRow& row : facts_.rows) {
    if (row.apart == nullptr && inside[row.node.value()]) add(row, sum);
  }
  return amount(rule, sum);
}

MemoryFigures::Amount MemoryFigures::amount(const Rule& rule, const MemoryRow& sum) const {
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
