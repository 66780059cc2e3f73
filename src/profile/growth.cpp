#include "profile/growth.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "core/throttled.hpp"

namespace timeloom::profile {
namespace {

using Milestone = AggregatedLocation::Milestone;

// Ticks of a visit at first and at last.
struct Means {
  double early = 0;
  double late = 0;
  bool steady = true;  // each doubling took longer than the one before, by kFactor
};

double mean_between(const Milestone& from, const Milestone& to) {
  return static_cast<double>(to.working - from.working) /
         static_cast<double>(to.visits - from.visits);
}

// A rank's results may come from anybody.
bool is_sound(std::span<const Milestone> milestones) {
  const auto is_wrong = [](const Milestone& a, const Milestone& b) {
    return a.visits >= b.visits || a.working > b.working;
  };
  return std::ranges::adjacent_find(milestones, is_wrong) == milestones.end();
}

// `milestones`: of one call path, in order. Nothing: it does not grow, or not by as much as steady
// growth would have made it.
std::optional<Means> growing(std::span<const Milestone> milestones) {
  // The visits after the last doubling tell whether it goes on, if they are many.
  const bool rest = !AggregatedLocation::is_milestone(milestones.back().visits);
  const auto doublings = milestones.first(milestones.size() - (rest ? 1 : 0));
  constexpr std::size_t kNeeded = Growth::kDoublings + 2;
  if (doublings.size() < kNeeded || !is_sound(milestones)) return {};
  const auto last = doublings.last(kNeeded);
  const double initial = mean_between(last[0], last[1]);
  double mean = initial;
  bool steady = true;
  for (std::size_t i = 1; i + 1 < kNeeded; ++i) {
    const double next = mean_between(last[i], last[i + 1]);
    steady &= next >= Growth::kFactor * mean;
    mean = next;
  }
  const bool many = milestones.back().visits - last.back().visits > last.back().visits / 8;
  const double late = rest && many ? mean_between(last.back(), milestones.back()) : mean;
  steady &= late >= mean;
  if (initial <= 0 || late < std::pow(Growth::kFactor, Growth::kDoublings) * initial) return {};
  const Milestone& first = milestones.front();
  return Means{static_cast<double>(first.working) / static_cast<double>(first.visits), late,
               steady};
}

// The duration of a call of a recursive function depends on its argument, and so on the caller.
std::set<std::uint64_t> recursive_regions(const AggregatedLocation& location) {
  std::set<std::uint64_t> regions;
  for (const AggregatedNode& node : location.nodes) {
    if (node.region == location.nodes[node.parent].region) regions.insert(node.region);
  }
  return regions;
}

}  // namespace

void Growth::add(const AggregatedLocation& location) {
  std::vector<Milestone> milestones = location.milestones;
  std::ranges::stable_sort(milestones, {}, &Milestone::node);
  std::map<std::uint32_t, Means> paths;
  for (std::size_t i = 0, end = 0; i < milestones.size(); i = end) {
    const std::uint32_t node = milestones[i].node;
    while (end < milestones.size() && milestones[end].node == node) ++end;
    const std::span<const Milestone> own(&milestones[i], end - i);
    if (const auto means = growing(own)) paths[node] = *means;
  }
  const std::set<std::uint64_t> recursive =
      paths.empty() ? std::set<std::uint64_t>() : recursive_regions(location);
  std::set<std::uint64_t> steady;  // regions of which some path grows with each doubling
  for (const auto& [node, means] : paths) {
    if (means.steady) steady.insert(location.nodes[node].region);
  }
  std::map<std::uint32_t, std::uint64_t> inside;  // time in growing paths that a path calls
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    const AggregatedNode& node = location.nodes[path->first];
    if (!steady.contains(node.region)) continue;
    inside[node.parent] += node.statistics.inclusive;
    if (inside[path->first] >= node.statistics.inclusive / 2) continue;
    if (node.region >= definitions_.regions.size() || recursive.contains(node.region)) continue;
    Function& function = functions_[node.region];
    function.visits += node.statistics.visits;
    function.time += node.statistics.inclusive;
    function.callers.insert(location.nodes[node.parent].region);
    if (node.statistics.inclusive < function.longest) continue;
    function.longest = node.statistics.inclusive;
    function.early = path->second.early;
    function.late = path->second.late;
  }
}

std::vector<GrowingCalls> Growth::functions() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> order;  // time, region
  for (const auto& [region, function] : functions_) order.emplace_back(function.time, region);
  std::ranges::sort(order, std::greater<>());
  order.resize(std::min(order.size(), kMost));
  const double ns = 1e9 / static_cast<double>(definitions_.clock.ticks_per_second);
  std::vector<GrowingCalls> result;
  for (const auto& [time, region] : order) {
    const Function& one = functions_.at(region);
    result.push_back({one.visits, static_cast<std::uint64_t>(std::llround(one.early * ns)),
                      static_cast<std::uint64_t>(std::llround(one.late * ns)), one.callers.size(),
                      region_entry(definitions_.regions[region])});
  }
  return result;
}

}  // namespace timeloom::profile
