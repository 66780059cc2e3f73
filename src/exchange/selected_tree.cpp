// A call tree without the parts that are not selected.

#include <algorithm>
#include <map>
#include <tuple>

#include "exchange/selection.hpp"
#include "exchange/tracks.hpp"
#include "profile/preorder.hpp"

namespace timeloom::exchange {

namespace {

using profile::CallTree;
using profile::LocationProfile;
using profile::Node;
using profile::NodeId;

class Pruner {
 public:
  Pruner(const CallTree& tree, const std::vector<bool>& regions) {
    for (const Node& node : tree.nodes) {
      const std::uint32_t above = node.parent.defined() ? place_[node.parent.value()] : 0;
      const bool chosen = !node.region.defined() || regions[node.region.value()];
      place_.push_back(chosen ? child_of(above, node) : above);
      kept_.push_back(chosen);
    }
    const std::vector<std::uint32_t> order = profile::in_preorder(paths_);
    id_.resize(paths_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) id_[order[i]] = NodeId{i};
    for (const std::uint32_t path : order) {
      Node node = paths_[path].node;
      node.parent = id_[paths_[path].parent];
      node.depth = node.parent.defined() ? nodes_[node.parent.value()].depth + 1 : 0;
      nodes_.push_back(node);
    }
  }

  std::vector<Node> take_nodes() { return std::move(nodes_); }

  void prune(LocationProfile& location, const std::vector<Metric>& metrics) const {
    std::map<NodeId, profile::Statistics> cells;
    for (const profile::Cell& cell : location.cells) {
      if (kept_[cell.node.value()]) cells[id_of(cell.node)].add(cell.statistics);
    }
    location.cells.clear();
    for (const auto& [node, statistics] : cells) location.cells.push_back({node, statistics});

    std::map<std::pair<MetricId, NodeId>, profile::MetricStatistics> values;
    for (const profile::MetricCell& cell : location.metrics) {
      const NodeId node = id_of(cell.node);
      if (node.defined()) values[{cell.metric, node}].add(cell.statistics);
    }
    location.metrics.clear();
    for (const auto& [key, statistics] : values) {
      location.metrics.push_back({key.first, key.second, statistics});
    }
    std::map<std::pair<MetricId, NodeId>, std::uint64_t> samples;
    for (const profile::SampleCell& cell : location.samples) {
      const NodeId node = cell.node.defined() ? id_of(cell.node) : cell.node;
      std::uint64_t& sum = samples[{cell.metric, node}];
      sum = metrics[cell.metric.value()].join(sum, cell.value);
    }
    location.samples.clear();
    for (const auto& [key, value] : samples) {
      location.samples.push_back({key.first, key.second, value});
    }
  }

 private:
  struct Path {
    std::uint32_t parent = 0;
    Node node{};
  };

  NodeId id_of(NodeId node) const { return id_[place_[node.value()]]; }

  std::uint32_t child_of(std::uint32_t above, const Node& node) {
    const auto next = static_cast<std::uint32_t>(paths_.size());
    const auto [found, fresh] =
        children_.try_emplace({above, node.region.value(), node.parameters.value()}, next);
    if (fresh) paths_.push_back({above, node});
    return found->second;
  }

  std::vector<Path> paths_ = {{}};  // the first stands above the roots
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> children_;
  std::vector<std::uint32_t> place_;  // index in paths_: of a node, or of the node that it is now
                                      // part of
  std::vector<bool> kept_;            // by node
  std::vector<NodeId> id_;            // id by path; undefined for the first
  std::vector<Node> nodes_;
};

void keep_locations(CallTree& tree, const std::set<LocationId>& chosen) {
  std::vector<Location> definitions;
  std::vector<LocationProfile> locations;
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    if (!chosen.contains(tree.definitions.locations[i].id)) continue;
    definitions.push_back(std::move(tree.definitions.locations[i]));
    locations.push_back(std::move(tree.locations[i]));
  }
  tree.definitions.locations = std::move(definitions);
  tree.locations = std::move(locations);
}

}  // namespace

profile::CallTree select(profile::CallTree tree, const Selection& selection) {
  mark_tasks(tree.definitions);
  keep_locations(tree, chosen_locations(selection, tree.definitions));
  if (!selection.only_my_code) return tree;
  Pruner pruner(tree, chosen_regions(selection, tree.definitions));
  for (LocationProfile& location : tree.locations) pruner.prune(location, tree.definitions.metrics);
  tree.nodes = pruner.take_nodes();
  return tree;
}

}  // namespace timeloom::exchange
