#include "profile/call_tree.hpp"

namespace timeloom::profile {

std::vector<Totals> sum_locations(const CallTree& tree, const LocationFilter& filter) {
  std::vector<Totals> totals(tree.nodes.size());
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    if (filter && !filter(tree.definitions.locations[i])) continue;
    for (const Cell& cell : tree.locations[i].cells) {
      totals[cell.node.value()].add(cell.statistics);
    }
  }
  for (std::size_t i = 0; i < totals.size(); ++i) {
    totals[i].exclusive += totals[i].inclusive;
    const NodeId parent = tree.nodes[i].parent;
    if (parent.defined()) totals[parent.value()].exclusive -= totals[i].inclusive;
  }
  return totals;
}

std::uint64_t total_time(const CallTree& tree, const std::vector<Totals>& totals) {
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (!tree.nodes[i].parent.defined()) time += totals[i].inclusive;
  }
  return time;
}

std::string text_of(const ParameterSet& parameters) {
  std::string text;
  for (const ParameterValue& one : parameters) {
    if (!text.empty()) text += ", ";
    text += one.name + "=" + one.text;
  }
  return text;
}

}  // namespace timeloom::profile
