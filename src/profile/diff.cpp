#include "profile/diff.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/child_table.hpp"
#include "core/throttled.hpp"
#include "profile/on_path.hpp"

namespace timeloom::profile {

namespace {

class Comparer {
 public:
  // Adds a run; the members select which of the two it is.
  void add(const CallTree& tree, DiffSide DiffRegion::*of_region, DiffSide DiffNode::*of_node,
           double& total) {
    const std::vector<std::uint32_t> regions = add_regions(tree.definitions);
    const std::vector<Totals> totals = sum_locations(tree);
    const std::vector<bool> throttled = throttled_regions(tree.definitions);
    const double tick = 1 / static_cast<double>(tree.definitions.clock.ticks_per_second);
    total = static_cast<double>(signed_value(total_time(tree, totals))) * tick;
    std::vector<std::uint32_t> nodes;
    RegionsOnPath on_path;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const Node& node = tree.nodes[i];
      const std::uint32_t above = node.parent.defined() ? nodes[node.parent.value()] : kTop;
      const std::string parameters =
          node.parameters.defined() ? text_of(tree.parameter_sets[node.parameters.value()]) : "";
      const std::uint32_t region = number_of(node.region, regions);
      nodes.push_back(child_of(above, region, parameters));
      const bool at_least = node.region.defined() && throttled[node.region.value()];
      add_to(diff_.nodes[nodes.back()].*of_node, totals[i], tick, at_least);
      Totals outermost = totals[i];
      if (!on_path.enter(region, node.depth)) outermost.inclusive = 0;
      add_to(diff_.regions[region].*of_region, outermost, tick, at_least);
    }
  }

  Diff take() {
    diff_.shared = std::ranges::any_of(diff_.regions, [](const DiffRegion& one) {
      return one.before.there && one.after.there && !one.name.empty();
    });
    return std::move(diff_);
  }

 private:
  static constexpr std::uint32_t kTop = UINT32_MAX - 1;  // above the roots

  static void add_to(DiffSide& side, const Totals& totals, double tick, bool at_least) {
    if (totals.visits == 0 && totals.inclusive == 0 && totals.exclusive == 0) return;
    side.there = true;
    side.at_least |= at_least;
    side.visits += signed_value(totals.visits);
    side.inclusive += static_cast<double>(signed_value(totals.inclusive)) * tick;
    side.exclusive += static_cast<double>(signed_value(totals.exclusive)) * tick;
  }

  // The numbers in the result, by the run's numbers.
  std::vector<std::uint32_t> add_regions(const Definitions& definitions) {
    std::vector<std::uint32_t> numbers;
    for (const Region& region : definitions.regions) {
      const std::string file = region.file.substr(region.file.rfind('/') + 1);
      const auto next = static_cast<std::uint32_t>(diff_.regions.size());
      const auto [found, fresh] = numbers_.emplace(region.name + '\n' + file, next);
      if (fresh) diff_.regions.push_back({region.name, "", 0, {}, {}});
      diff_.regions[found->second].file = region.file;
      diff_.regions[found->second].line = region.first_line;
      numbers.push_back(found->second);
    }
    return numbers;
  }

  static std::vector<bool> throttled_regions(const Definitions& definitions) {
    const ThrottledFunctions throttled(definitions.properties);
    std::vector<bool> result;
    for (const Region& region : definitions.regions) result.push_back(throttled.holds(region));
    return result;
  }

  std::uint32_t number_of(RegionId region, const std::vector<std::uint32_t>& numbers) {
    if (region.defined()) return numbers[region.value()];
    const auto next = static_cast<std::uint32_t>(diff_.regions.size());
    const auto [found, fresh] = numbers_.emplace("", next);
    if (fresh) diff_.regions.emplace_back();
    return found->second;
  }

  std::uint32_t child_of(std::uint32_t parent, std::uint32_t region,
                         const std::string& parameters) {
    std::uint32_t key = region;
    if (!parameters.empty()) {  // no region has such a number
      const auto next = static_cast<std::uint32_t>(kTop - 1 - keys_.size());
      key = keys_.try_emplace({region, parameters}, next).first->second;
    }
    std::uint32_t child = children_.find(parent, key);
    if (child == ChildTable::kNone) {
      child = static_cast<std::uint32_t>(diff_.nodes.size());
      diff_.nodes.push_back(
          {parent == kTop ? NodeId{} : NodeId{parent}, region, parameters, {}, {}});
      children_.insert(parent, key, child);
    }
    return child;
  }

  Diff diff_;
  std::unordered_map<std::string, std::uint32_t> numbers_;               // of regions
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> keys_;  // of region and values
  ChildTable children_;
};

}  // namespace

Diff compare(const CallTree& before, const CallTree& after) {
  Comparer comparer;
  double total_before = 0;
  double total_after = 0;
  comparer.add(before, &DiffRegion::before, &DiffNode::before, total_before);
  comparer.add(after, &DiffRegion::after, &DiffNode::after, total_after);
  Diff diff = comparer.take();
  diff.before = total_before;
  diff.after = total_after;
  return diff;
}

}  // namespace timeloom::profile
