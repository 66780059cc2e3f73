#include "profile/samples/throttled_times.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/samples/estimated_time.hpp"
#include "core/throttled.hpp"
#include "profile/preorder.hpp"

namespace timeloom::profile {
namespace {

constexpr std::size_t kMostCandidates = 256;  // call paths of one function that are compared

// Puts `region` behind the others, and only there.
void put_last(std::vector<RegionId>& regions, RegionId region) {
  std::erase(regions, region);
  regions.push_back(region);
}

void scale(MetricStatistics& one, double factor) {
  one.sum *= factor;
  one.min *= factor;
  one.max *= factor;
  one.squares *= factor * factor;
}

// The own time of call paths in one location, without the waiting, in nanoseconds.
class OwnTimes {
 public:
  OwnTimes(const CallTree& tree, std::size_t location) : own_(tree.nodes.size()) {
    const double ns = 1e9 / static_cast<double>(tree.definitions.clock.ticks_per_second);
    const LocationProfile& profile = tree.locations[location];
    for (const Cell& cell : profile.cells) {
      const double time = static_cast<double>(signed_value(cell.statistics.inclusive)) * ns;
      own_[cell.node.value()] += time;
      const NodeId parent = tree.nodes[cell.node.value()].parent;
      if (parent.defined()) own_[parent.value()] -= time;
    }
    for (const SampleCell& cell : profile.samples) {
      const bool waits = tree.definitions.metrics[cell.metric.value()].is_waiting();
      if (waits && cell.node.defined()) own_[cell.node.value()] -= static_cast<double>(cell.value);
    }
  }
  double of(std::uint32_t node) const { return std::max(own_[node], 0.0); }

 private:
  std::vector<double> own_;  // by node
};

// How well the callers of a node agree with the samples: common ones count twice, others against.
int likeness(const CallTree& tree, std::uint32_t node, const std::vector<RegionId>& recorded) {
  auto next = recorded.rbegin();
  int found = 0;
  for (NodeId at{node}; at.defined(); at = tree.nodes[at.value()].parent) {
    const auto same = std::find(next, recorded.rend(), tree.nodes[at.value()].region);
    found += same == recorded.rend() ? -1 : 2;
    if (same != recorded.rend()) next = same + 1;
  }
  return found;
}

class Grafting {
 public:
  explicit Grafting(CallTree& tree) : tree_(tree), nodes_of_(tree.definitions.regions.size()) {
    paths_.push_back({0, {}, {}});
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
      const Node& node = tree.nodes[i];
      const std::uint32_t parent = node.parent.defined() ? node.parent.value() + 1 : 0;
      paths_.push_back({parent, node.region, node.parameters});
      if (!node.region.defined()) continue;
      nodes_of_[node.region.value()].push_back(i);
      children_.try_emplace({parent, node.region}, i + 1);
    }
    time_ = add_metric(kEstimatedTime);
    elsewhere_ = add_metric(kEstimatedElsewhere);
    below_ = add_metric(kEstimatedBelow);
  }

  void add(std::size_t location, const std::vector<const EstimatedPath*>& paths) {
    const OwnTimes own(tree_, location);
    std::map<std::uint32_t, std::vector<const EstimatedPath*>> by_node;
    std::map<std::pair<MetricId, std::uint32_t>, MetricStatistics> values;
    std::map<std::uint32_t, double> inclusive;
    for (const EstimatedPath* path : paths) {
      if (path->recorded.empty()) {
        add_time(0, path->throttled, path->time, values, inclusive);
        continue;
      }
      const auto node = node_of(*path, own);
      if (!node) continue;
      if (!path->throttled.empty()) by_node[*node].push_back(path);
      add_around(*path, values);
    }
    for (const auto& [node, some] : by_node) move_time(node, own.of(node), some, values, inclusive);
    LocationProfile& added = added_[location];
    add_cells(inclusive, values, added);
    for (const auto& [key, statistics] : values) {
      added.metrics.push_back({key.first, NodeId{key.second}, statistics});
    }
  }

  // Puts the nodes in order, and the values to theirs.
  void finish() {
    std::vector<std::uint32_t> place(paths_.size(), NodeId{}.value());
    std::vector<Node> nodes;
    for (const std::uint32_t path : in_preorder(paths_)) {
      const NodeId parent{place[paths_[path].parent]};
      place[path] = static_cast<std::uint32_t>(nodes.size());
      const std::uint32_t depth = parent.defined() ? nodes[parent.value()].depth + 1 : 0;
      nodes.push_back({parent, paths_[path].region, depth, paths_[path].parameters});
    }
    tree_.nodes = std::move(nodes);
    // The first path is above the roots.
    const std::vector<std::uint32_t> of_nodes(place.begin() + 1, place.end());
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) {
      LocationProfile& one = tree_.locations[i];
      place_cells(one, of_nodes);
      const auto added = added_.find(i);
      if (added == added_.end()) continue;
      place_cells(added->second, place);
      one.cells.insert(one.cells.end(), added->second.cells.begin(), added->second.cells.end());
      one.metrics.insert(one.metrics.end(), added->second.metrics.begin(),
                         added->second.metrics.end());
      sort_cells(one);
    }
  }

 private:
  struct Path {
    std::uint32_t parent;  // 0 is above the roots
    RegionId region;
    ParameterSetId parameters;
  };

  MetricId add_metric(const char* name) {
    Metric metric;
    metric.name = name;
    metric.unit = kEstimatedUnit;
    metric.type = MetricValueType::kUint64;
    metric.source = MetricSource::kOther;
    tree_.definitions.metrics.push_back(std::move(metric));
    return MetricId{static_cast<std::uint32_t>(tree_.definitions.metrics.size() - 1)};
  }

  // The call path of the innermost recorded function; of equal ones that with the most own time.
  std::optional<std::uint32_t> node_of(const EstimatedPath& path, const OwnTimes& own) const {
    const RegionId region = path.recorded.back();
    if (!region.defined() || region.value() >= nodes_of_.size()) return {};
    const std::vector<std::uint32_t>& candidates = nodes_of_[region.value()];
    std::optional<std::pair<int, double>> best;
    std::optional<std::uint32_t> found;
    for (std::size_t i = 0; i < std::min(candidates.size(), kMostCandidates); ++i) {
      const double time = own.of(candidates[i]);
      if (time <= 0) continue;
      const std::pair score(likeness(tree_, candidates[i], path.recorded), time);
      if (best && *best >= score) continue;
      best = score;
      found = candidates[i];
    }
    return found;
  }

  std::uint32_t child_of(std::uint32_t parent, RegionId region) {
    const auto next = static_cast<std::uint32_t>(paths_.size());
    const auto [child, is_new] = children_.try_emplace({parent, region}, next);
    if (is_new) paths_.push_back({parent, region, {}});
    return child->second;
  }

  using Values = std::map<std::pair<MetricId, std::uint32_t>, MetricStatistics>;

  void move_time(std::uint32_t node, double available,
                 const std::vector<const EstimatedPath*>& paths, Values& values,
                 std::map<std::uint32_t, double>& inclusive) {
    double sum = 0;
    for (const EstimatedPath* path : paths) sum += path->time.sum;
    const double factor = sum > available ? available / sum : 1;
    for (const EstimatedPath* path : paths) {
      MetricStatistics time = path->time;
      scale(time, factor);
      values[{elsewhere_, node + 1}].add(time);
      add_time(node + 1, path->throttled, time, values, inclusive);
    }
  }

  // To functions that were called from `at`, the outermost first.
  void add_time(std::uint32_t at, const std::vector<RegionId>& throttled,
                const MetricStatistics& time, Values& values,
                std::map<std::uint32_t, double>& inclusive) {
    for (const RegionId region : throttled) {
      at = child_of(at, region);
      inclusive[at] += time.sum;
    }
    if (!throttled.empty()) values[{time_, at}].add(time);
  }

  // Rounded down, so that they never come to more than the own time of the function above them, and
  // never to less than the ones below them, but for the part that is from this function's own time.
  // A path has a smaller number than those below it.
  void add_cells(const std::map<std::uint32_t, double>& inclusive, const Values& values,
                 LocationProfile& added) const {
    const double ticks = static_cast<double>(tree_.definitions.clock.ticks_per_second) * 1e-9;
    std::map<std::uint32_t, std::uint64_t> below;
    for (auto one = inclusive.rbegin(); one != inclusive.rend(); ++one) {
      const auto& [path, time] = *one;
      const auto moved = values.find({elsewhere_, path});
      const double own = moved == values.end() ? 0 : moved->second.sum * ticks;
      const std::uint64_t least =
          below[path] - std::min(below[path], static_cast<std::uint64_t>(own));
      const std::uint64_t rounded = std::max(static_cast<std::uint64_t>(time * ticks), least);
      added.cells.push_back({NodeId{path}, {.inclusive = rounded}});
      below[paths_[path].parent] += rounded;
    }
  }

  // The node does not matter: of one function it is the first. The total of a function has the time
  // already that call paths with it contain.
  void add_around(const EstimatedPath& path, Values& values) const {
    for (const RegionId region : path.around) {
      if (std::ranges::find(path.throttled, region) != path.throttled.end()) continue;
      if (std::ranges::find(path.recorded, region) != path.recorded.end()) continue;
      if (region.value() >= nodes_of_.size() || nodes_of_[region.value()].empty()) continue;
      values[{below_, nodes_of_[region.value()].front() + 1}].add(path.time);
    }
  }

  static void place_cells(LocationProfile& one, const std::vector<std::uint32_t>& place) {
    for (Cell& cell : one.cells) cell.node = NodeId{place[cell.node.value()]};
    for (MetricCell& cell : one.metrics) cell.node = NodeId{place[cell.node.value()]};
    for (SampleCell& cell : one.samples) {
      if (cell.node.defined()) cell.node = NodeId{place[cell.node.value()]};
    }
  }

  static void sort_cells(LocationProfile& one) {
    std::ranges::stable_sort(one.cells, {}, &Cell::node);
    std::vector<Cell> joined;
    for (const Cell& cell : one.cells) {
      if (!joined.empty() && joined.back().node == cell.node) {
        joined.back().statistics.add(cell.statistics);
      } else {
        joined.push_back(cell);
      }
    }
    one.cells = std::move(joined);
    std::ranges::stable_sort(
        one.metrics, {}, [](const MetricCell& cell) { return std::pair(cell.metric, cell.node); });
  }

  CallTree& tree_;
  std::vector<std::vector<std::uint32_t>> nodes_of_;  // by region
  std::vector<Path> paths_;                           // first the nodes, from number 1 on
  std::map<std::pair<std::uint32_t, RegionId>, std::uint32_t> children_;
  std::map<std::size_t, LocationProfile> added_;  // by location, with the numbers of paths
  MetricId time_, elsewhere_, below_;
};

}  // namespace

EstimatedPath estimated_path(std::span<const SampledFrame> stack) {
  EstimatedPath path;
  for (const SampledFrame& frame : stack) {
    if (!frame.region.defined()) continue;
    if (frame.unrecorded) {
      put_last(path.throttled, frame.region);
      continue;
    }
    for (const RegionId one : std::exchange(path.throttled, {})) put_last(path.around, one);
    path.recorded.push_back(frame.region);
  }
  return path;
}

void add_estimates(CallTree& tree, const std::vector<EstimatedPath>& paths) {
  if (paths.empty()) return;
  std::map<LocationId, std::vector<const EstimatedPath*>> by_location;
  for (const EstimatedPath& path : paths) by_location[path.location].push_back(&path);
  Grafting grafting(tree);
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    const auto found = by_location.find(tree.definitions.locations[i].id);
    if (found != by_location.end()) grafting.add(i, found->second);
  }
  grafting.finish();
}

std::vector<bool> estimated_nodes(const CallTree& tree) {
  std::vector<bool> estimated(tree.nodes.size());
  if (!has_estimates(tree.definitions)) return estimated;
  // By node: samples whose time was added to it, and to what it calls; all samples there.
  std::vector<std::int64_t> added(tree.nodes.size()), inside(tree.nodes.size());
  for (const LocationProfile& location : tree.locations) {
    for (const MetricCell& cell : location.metrics) {
      if (!cell.node.defined()) continue;
      const std::string& name = tree.definitions.metrics[cell.metric.value()].name;
      const auto samples = static_cast<std::int64_t>(cell.statistics.count);
      if (name == kEstimatedTime) inside[cell.node.value()] += samples;
      if (name == kEstimatedTime) added[cell.node.value()] += samples;
      if (name == kEstimatedElsewhere) added[cell.node.value()] -= samples;
    }
  }
  const ThrottledFunctions throttled(tree.definitions.properties);
  for (std::size_t i = estimated.size(); i-- > 0;) {
    const auto& [parent, region, depth, parameters] = tree.nodes[i];
    if (parent.defined()) inside[parent.value()] += inside[i];
    if (parent.defined()) added[parent.value()] += added[i];
    estimated[i] = added[i] > 0;
    if (estimated[i] || inside[i] == 0 || !region.defined()) continue;
    const Region& function = tree.definitions.regions[region.value()];
    estimated[i] = throttled.names(function) || throttled.truncates(function);
  }
  return estimated;
}

}  // namespace timeloom::profile
