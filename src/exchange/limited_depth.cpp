#include "exchange/limited_depth.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "exchange/exclusive_times.hpp"

namespace timeloom::exchange {

namespace {

using profile::CallTree;
using profile::Cell;
using profile::LocationProfile;
using profile::Node;
using profile::NodeId;
using profile::ParameterSetId;
using profile::Statistics;

// The nodes that stay, and the nodes that stand for the others.
class LimitedNodes {
 public:
  LimitedNodes(const CallTree& tree, RegionId deeper, std::uint32_t most)
      : deeper_(deeper), most_(most) {
    for (const Node& node : tree.nodes) {
      of_node_.push_back(node.depth < most ? keep(node) : join(node));
    }
  }

  // Maps an old node to its new one.
  NodeId of(NodeId node) const { return of_node_[node.value()]; }
  // The "(deeper calls)" node above a node that stands for others; undefined for a node that stays.
  NodeId marker_above(NodeId node) const {
    return nodes_[node.value()].depth > most_ ? nodes_[node.value()].parent : NodeId{};
  }
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  NodeId add(const Node& node) {
    nodes_.push_back(node);
    return NodeId{static_cast<std::uint32_t>(nodes_.size() - 1)};
  }

  NodeId keep(Node node) {
    if (node.parent.defined()) node.parent = of(node.parent);
    last_ = add(node);
    marker_ = {};
    return last_;
  }

  // Below the node kept last, because nodes are in pre-order.
  NodeId join(const Node& node) {
    if (!marker_.defined()) {
      marker_ = add({last_, deeper_, most_});
      joined_.clear();
    }
    const auto [found, fresh] = joined_.try_emplace(std::pair(node.region, node.parameters));
    if (fresh) found->second = add({marker_, node.region, most_ + 1, node.parameters});
    return found->second;
  }

  RegionId deeper_;
  std::uint32_t most_;
  std::vector<NodeId> of_node_;
  std::vector<Node> nodes_;
  NodeId last_, marker_;
  std::map<std::pair<RegionId, ParameterSetId>, NodeId> joined_;  // below the marker
};

void join_cells(LocationProfile& location, const LimitedNodes& nodes, ExclusiveTimes& times) {
  std::map<NodeId, Statistics> joined;
  std::vector<Cell> cells;
  times.for_each(location, [&](const Cell& cell, std::uint64_t exclusive) {
    const NodeId node = nodes.of(cell.node), marker = nodes.marker_above(node);
    if (!marker.defined()) {
      cells.push_back({node, cell.statistics});
      return;
    }
    Statistics own = cell.statistics;
    own.inclusive = exclusive;
    joined[node].add(own);
    joined[marker].inclusive += exclusive;
  });
  for (const auto& [node, statistics] : joined) cells.push_back({node, statistics});
  std::ranges::sort(cells, {}, &Cell::node);
  location.cells = std::move(cells);
  location.metrics.clear();
  location.samples.clear();
}

}  // namespace

bool limit_depth(CallTree& tree, std::uint32_t most) {
  const auto is_deep = [most](const Node& node) { return node.depth >= most; };
  if (std::ranges::none_of(tree.nodes, is_deep)) return false;
  const RegionId deeper{static_cast<std::uint32_t>(tree.definitions.regions.size())};
  tree.definitions.regions.emplace_back().name = "(deeper calls)";
  LimitedNodes nodes(tree, deeper, most);
  ExclusiveTimes times(tree);
  for (LocationProfile& location : tree.locations) join_cells(location, nodes, times);
  tree.nodes = nodes.take();
  return true;
}

}  // namespace timeloom::exchange
