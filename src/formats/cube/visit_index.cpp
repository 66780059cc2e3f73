#include "formats/cube/visit_index.hpp"

namespace timeloom::cube {

using profile::Cell;
using profile::NodeId;

VisitIndex::VisitIndex(const profile::CallTree& tree, const std::vector<bool>& first)
    : tree_(tree),
      first_(first.begin(), first.end()),
      by_first_(tree.nodes.size()),
      by_others_(tree.nodes.size()) {
  for (std::uint32_t i = 0; i < tree.locations.size(); ++i) add_cells(i);
  add_parents();
}

// Adds the nodes that were visited or have a metric value.
void VisitIndex::add_cells(std::uint32_t index) {
  const profile::LocationProfile& location = tree_.locations[index];
  std::vector<char>& visited = is_first(index) ? by_first_ : by_others_;
  std::uint64_t sum = 0;
  for (const Cell& cell : location.cells) {
    visited[cell.node.value()] = 1;
    if (!tree_.nodes[cell.node.value()].parent.defined()) sum += cell.statistics.inclusive;
  }
  for (const profile::SampleCell& one : location.samples) {
    if (one.node.defined()) visited[one.node.value()] = 1;
  }
  const std::uint64_t life = ticks(location.last) - ticks(location.first);
  whole_time_.push_back(is_first(index) ? std::max(sum, life) : sum);
  cells_ += location.cells.size();
}

// A location that visited a node has visited its parent.
void VisitIndex::add_parents() {
  for (std::size_t i = tree_.nodes.size(); i-- > 0;) {
    const NodeId parent = tree_.nodes[i].parent;
    if (!parent.defined()) continue;
    if (by_first_[i] != 0) by_first_[parent.value()] = 1;
    if (by_others_[i] != 0) by_others_[parent.value()] = 1;
  }
}

}  // namespace timeloom::cube
