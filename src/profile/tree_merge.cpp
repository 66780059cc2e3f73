#include "profile/tree_merge.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <tuple>

#include "profile/preorder.hpp"

namespace timeloom::profile {

namespace {

std::string shortest_text(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

ParameterValue value_of(const AggregatedLocation::Parameter& one, const Definitions& definitions) {
  const Parameter& parameter = definitions.parameters[one.parameter.value()];
  switch (parameter.type) {
    case ParameterType::kInt64:
      return {parameter.name, std::to_string(std::bit_cast<std::int64_t>(one.value)), true};
    case ParameterType::kUint64: return {parameter.name, std::to_string(one.value), true};
    case ParameterType::kFloat:  // a text in a trace, too
      return {parameter.name, shortest_text(std::bit_cast<double>(one.value)), false};
    case ParameterType::kString: break;
  }
  const bool known = one.value < definitions.strings.size();
  return {parameter.name, known ? definitions.strings[one.value] : std::string(), false};
}

bool was_visited(const AggregatedNode& node) {
  return node.statistics.visits != 0 || node.statistics.inclusive != 0;
}

// Nodes that took time, were visited or have values of metrics, and all nodes above them.
std::vector<bool> wanted_nodes(const AggregatedLocation& location) {
  std::vector<bool> wanted(location.nodes.size());
  for (const AggregatedLocation::Sample& one : location.samples) wanted[one.node] = true;
  for (std::size_t i = location.nodes.size(); i-- > 1;) {
    const AggregatedNode& node = location.nodes[i];
    if (was_visited(node)) wanted[i] = true;
    if (wanted[i]) wanted[node.parent] = true;
  }
  return wanted;
}

void add_outside(std::vector<OutsideCell>& cells, const AggregatedLocation::MetricValues& values) {
  auto cell = std::ranges::find(cells, values.metric, &OutsideCell::metric);
  if (cell == cells.end()) cell = cells.insert(cell, {values.metric, {}});
  cell->statistics.add(values.statistics);
}

}  // namespace

void TreeMerge::add(std::size_t index, AggregatedLocation&& location) {
  LocationProfile& profile = profiles_[index];
  if (location.nodes.empty()) return;
  if (location.last != Timestamp{}) {  // not without any event
    const bool first = profile.last == Timestamp{};
    profile.first = first ? location.first : std::min(profile.first, location.first);
    profile.last = std::max(profile.last, location.last);
  }
  const std::vector<bool> wanted = wanted_nodes(location);
  const std::vector<ParameterSetId> sets = sets_of(location);
  std::vector<std::uint32_t> merged(location.nodes.size());
  for (std::size_t i = 1; i < location.nodes.size(); ++i) {
    if (!wanted[i]) continue;
    const AggregatedNode& node = location.nodes[i];
    merged[i] =
        child_of(merged[node.parent], node.region, sets.empty() ? ParameterSetId{} : sets[i]);
  }
  add_statistics(index, location, merged);
  for (const AggregatedLocation::Sample& one : location.samples) {
    profile.samples.push_back({one.metric, NodeId{merged[one.node]}, one.value});
  }
  location = {};
}

void TreeMerge::add_statistics(std::size_t index, const AggregatedLocation& location,
                               const std::vector<std::uint32_t>& merged) {
  LocationProfile& profile = profiles_[index];
  profile.cells.reserve(profile.cells.size() + location.nodes.size() - 1);
  for (std::size_t i = 1; i < location.nodes.size(); ++i) {
    if (merged[i] != 0 && was_visited(location.nodes[i])) {
      profile.cells.push_back({NodeId{merged[i]}, location.nodes[i].statistics});
    }
  }
  for (const AggregatedLocation::MetricValues& one : location.metrics) {
    if (one.node == 0) add_outside(profile.outside, one);
    if (merged[one.node] == 0) continue;
    profile.metrics.push_back({one.metric, NodeId{merged[one.node]}, one.statistics});
  }
  for (const AggregatedLocation::Part& part : location.parts) {
    if (merged[part.node] != 0) parts_[index].push_back({merged[part.node], part.duration});
  }
}

// By node; empty when there are no parameters.
std::vector<ParameterSetId> TreeMerge::sets_of(const AggregatedLocation& location) {
  std::vector<ParameterSetId> sets;
  if (location.parameters.empty()) return sets;
  sets.resize(location.nodes.size());
  for (const AggregatedLocation::Parameter& one : location.parameters) {
    sets[one.node] = set_with(sets[one.base], one);
  }
  return sets;
}

ParameterSetId TreeMerge::set_with(ParameterSetId base,
                                   const AggregatedLocation::Parameter& added) {
  ParameterSet set;
  if (base.defined()) set = *set_by_id_[base.value()];
  set.push_back(value_of(added, definitions_));
  const auto next = static_cast<std::uint32_t>(set_by_id_.size());
  const auto [found, fresh] = sets_.try_emplace(std::move(set), next);
  if (fresh) set_by_id_.push_back(&found->first);
  return ParameterSetId{found->second};
}

// A number for the pair that is not the number of a region.
std::uint32_t TreeMerge::key_of(std::uint64_t region, ParameterSetId parameters) {
  if (!parameters.defined()) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(region, UINT32_MAX));
  }
  const auto next = static_cast<std::uint32_t>(definitions_.regions.size() + keys_.size());
  return keys_.try_emplace({region, parameters.value()}, next).first->second;
}

std::uint32_t TreeMerge::child_of(std::uint32_t parent, std::uint64_t region,
                                  ParameterSetId parameters) {
  const std::uint32_t key = key_of(region, parameters);
  std::uint32_t child = children_.find(parent, key);
  if (child == ChildTable::kNone) {
    child = static_cast<std::uint32_t>(paths_.size());
    paths_.push_back({parent, region, parameters});
    children_.insert(parent, key, child);
  }
  return child;
}

void TreeMerge::finish(CallTree& tree) {
  const std::vector<std::uint32_t> place = place_in_preorder(tree);
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    LocationProfile& profile = profiles_[i];
    for (Cell& cell : profile.cells) cell.node = NodeId{place[cell.node.value()]};
    for (MetricCell& cell : profile.metrics) cell.node = NodeId{place[cell.node.value()]};
    for (SampleCell& cell : profile.samples) cell.node = NodeId{place[cell.node.value()]};
    for (AggregatedLocation::Part& part : parts_[i]) part.node = place[part.node];
    join_cells(profile.cells);
    join_metrics(profile.metrics);
    join_samples(profile.samples, definitions_.metrics);
    std::ranges::sort(profile.outside, {}, &OutsideCell::metric);
    add_parts(profile.cells, parts_[i]);
  }
  for (const ParameterSet* set : set_by_id_) tree.parameter_sets.push_back(*set);
  tree.locations = std::move(profiles_);
}

// In order of nodes; a location that was added twice may have a call path twice.
void TreeMerge::join_cells(std::vector<Cell>& cells) {
  std::ranges::sort(cells, {}, &Cell::node);
  std::size_t end = 0;
  for (const Cell& cell : cells) {
    if (end > 0 && cells[end - 1].node == cell.node) {
      cells[end - 1].statistics.add(cell.statistics);
    } else {
      cells[end++] = cell;
    }
  }
  cells.resize(end);
}

void TreeMerge::join_metrics(std::vector<MetricCell>& metrics) {
  std::ranges::stable_sort(metrics, {},
                           [](const MetricCell& one) { return std::pair(one.metric, one.node); });
  std::size_t end = 0;
  for (const MetricCell& one : metrics) {
    if (end > 0 && metrics[end - 1].metric == one.metric && metrics[end - 1].node == one.node) {
      metrics[end - 1].statistics.add(one.statistics);
    } else {
      metrics[end++] = one;
    }
  }
  metrics.resize(end);
}

void join_samples(std::vector<SampleCell>& samples, const std::vector<Metric>& metrics) {
  std::ranges::sort(samples, {},
                    [](const SampleCell& one) { return std::pair(one.metric, one.node); });
  std::size_t end = 0;
  for (const SampleCell& one : samples) {
    if (end > 0 && samples[end - 1].metric == one.metric && samples[end - 1].node == one.node) {
      std::uint64_t& value = samples[end - 1].value;
      value = metrics[one.metric.value()].join(value, one.value);
    } else {
      samples[end++] = one;
    }
  }
  samples.resize(end);
}

// A visit is as long as all its parts together.
void TreeMerge::add_parts(std::vector<Cell>& cells, std::vector<AggregatedLocation::Part>& parts) {
  std::ranges::sort(parts, {}, &AggregatedLocation::Part::node);
  for (auto part = parts.begin(); part != parts.end();) {
    const std::uint32_t node = part->node;
    std::uint64_t duration = 0;
    for (; part != parts.end() && part->node == node; ++part) duration += part->duration;
    const auto cell = std::ranges::lower_bound(cells, NodeId{node}, {}, &Cell::node);
    if (cell == cells.end() || cell->node != NodeId{node}) continue;  // it took no time
    cell->statistics.min = std::min(cell->statistics.min, duration);
    cell->statistics.max = std::max(cell->statistics.max, duration);
  }
}

// Fills tree.nodes and returns the place of each path.
std::vector<std::uint32_t> TreeMerge::place_in_preorder(CallTree& tree) const {
  std::vector<std::uint32_t> place(paths_.size(), NodeId{}.value());
  tree.nodes.reserve(paths_.size() - 1);
  for (const std::uint32_t path : in_preorder(paths_)) {
    const NodeId parent{place[paths_[path].parent]};
    place[path] = static_cast<std::uint32_t>(tree.nodes.size());
    const RegionId region = paths_[path].region == kNoRegion
                                ? RegionId{}
                                : RegionId{static_cast<std::uint32_t>(paths_[path].region)};
    const std::uint32_t depth = parent.defined() ? tree.nodes[parent.value()].depth + 1 : 0;
    tree.nodes.push_back({parent, region, depth, paths_[path].parameters});
  }
  return place;
}

}  // namespace timeloom::profile
