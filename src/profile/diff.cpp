#include "profile/diff.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/child_table.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/throttled.hpp"
#include "profile/diff_runs.hpp"
#include "profile/on_path.hpp"

namespace timeloom::profile {

namespace {

// The work of each call path with the paths inside.
std::vector<double> inclusive_of(const CallTree& tree, const std::vector<double>& exclusive) {
  std::vector<double> sums = exclusive;
  for (std::size_t i = sums.size(); i-- > 0;) {
    const NodeId parent = tree.nodes[i].parent;
    if (parent.defined()) sums[parent.value()] += sums[i];
  }
  return sums;
}

class Comparer {
 public:
  // Adds a run; runs have the same numbers of regions and nodes, so that a later one may have more.
  RunSides add(const DiffRun& run) {
    const CallTree& tree = *run.tree;
    RunSides sides;
    const std::vector<std::uint32_t> regions = add_regions(tree.definitions);
    const std::vector<Totals> totals = sum_locations(tree);
    const std::vector<bool> throttled = throttled_regions(tree.definitions);
    const double tick = 1 / static_cast<double>(tree.definitions.clock.ticks_per_second);
    sides.total = static_cast<double>(signed_value(total_time(tree, totals))) * tick;
    const std::vector<double> inclusive_working = inclusive_of(tree, run.working);
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
      DiffSide side = side_of(totals[i], tick);
      side.at_least = side.there && at_least;
      if (side.there && !run.working.empty()) {
        side.working = run.working[i];
        side.waiting = run.waiting[i];
        side.inclusive_working = inclusive_working[i];
        sides.working += side.working;
      }
      sides.nodes.resize(diff_.nodes.size());
      sides.nodes[nodes.back()] += side;
      if (!on_path.enter(region, node.depth)) side.inclusive = side.inclusive_working = 0;
      sides.regions.resize(diff_.regions.size());
      sides.regions[region] += side;
    }
    return sides;
  }

  Diff take(std::vector<RunSides> before, std::vector<RunSides> after) {
    std::vector<RunSides*> all;
    for (RunSides& one : before) all.push_back(&one);
    for (RunSides& one : after) all.push_back(&one);
    for (RunSides* one : all) {
      one->nodes.resize(diff_.nodes.size());
      one->regions.resize(diff_.regions.size());
    }
    const std::vector<double> factors = divide_by_factors(all);
    diff_.before = totals_of(before);
    diff_.after = totals_of(after);
    if (!factors.empty()) {
      const auto middle = factors.begin() + static_cast<std::ptrdiff_t>(before.size());
      diff_.before.factors = {factors.begin(), middle};
      diff_.after.factors = {middle, factors.end()};
    }
    for (std::size_t i = 0; i < diff_.regions.size(); ++i) {
      diff_.regions[i].before = median_of(before, &RunSides::regions, i);
      diff_.regions[i].after = median_of(after, &RunSides::regions, i);
    }
    for (std::size_t i = 0; i < diff_.nodes.size(); ++i) {
      diff_.nodes[i].before = median_of(before, &RunSides::nodes, i);
      diff_.nodes[i].after = median_of(after, &RunSides::nodes, i);
    }
    diff_.shared = std::ranges::any_of(diff_.regions, [](const DiffRegion& one) {
      return one.before.there && one.after.there && !one.name.empty();
    });
    return std::move(diff_);
  }

 private:
  static constexpr std::uint32_t kTop = UINT32_MAX - 1;  // above the roots

  static DiffSide side_of(const Totals& totals, double tick) {
    DiffSide side;
    side.there = totals.visits != 0 || totals.inclusive != 0 || totals.exclusive != 0;
    side.visits = signed_value(totals.visits);
    side.inclusive = static_cast<double>(signed_value(totals.inclusive)) * tick;
    side.exclusive = static_cast<double>(signed_value(totals.exclusive)) * tick;
    return side;
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

double time_of_a_sample(const Diff& diff, DiffSide DiffNode::*side) {
  std::int64_t samples = 0;
  double time = 0;
  for (const DiffNode& node : diff.nodes) {
    samples += (node.*side).visits;
    time += (node.*side).exclusive;
  }
  return samples > 0 ? time / static_cast<double>(samples) : 0;
}

}  // namespace

// The number of samples in a part of the run has a binomial distribution, and the sum of all is
// exact.
double sampling_error(const Diff& diff, double before, double after) noexcept {
  const auto variance = [](const DiffTotals& side, double time) {
    const double others = side.all > 0 ? std::max(0.0, 1 - std::abs(time) / side.all) : 0;
    return std::abs(time) * side.sample * others;
  };
  return 2 * std::sqrt(variance(diff.before, before) + variance(diff.after, after));
}

Diff compare(std::span<const DiffRun> before, std::span<const DiffRun> after) {
  Comparer comparer;
  std::vector<RunSides> sides_before, sides_after;
  for (const DiffRun& one : before) sides_before.push_back(comparer.add(one));
  for (const DiffRun& one : after) sides_after.push_back(comparer.add(one));
  Diff diff = comparer.take(std::move(sides_before), std::move(sides_after));
  const auto has_work = [](const DiffRun& one) { return !one.working.empty(); };
  const auto has_samples = [](const DiffRun& one) {
    return has_sampled_calls(one.tree->definitions);
  };
  if (std::ranges::any_of(before, has_samples)) {
    diff.before.sample = time_of_a_sample(diff, &DiffNode::before);
  }
  if (std::ranges::any_of(after, has_samples)) {
    diff.after.sample = time_of_a_sample(diff, &DiffNode::after);
  }
  diff.measured = std::ranges::all_of(before, has_work) && std::ranges::all_of(after, has_work);
  return diff;
}

Diff compare(const CallTree& before, const CallTree& after) {
  const DiffRun first{&before}, second{&after};
  return compare({&first, 1}, {&second, 1});
}

}  // namespace timeloom::profile
