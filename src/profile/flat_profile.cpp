#include "profile/flat_profile.hpp"

#include <cstddef>

#include "profile/on_path.hpp"

namespace timeloom::profile {

std::vector<FlatRow> flat_profile(const CallTree& tree, const std::vector<Totals>& totals) {
  const std::size_t regions = tree.definitions.regions.size();
  std::vector<FlatRow> rows(regions + 1);  // the last is for nodes without a region
  RegionsOnPath on_path;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    const std::size_t index = node.region.defined() ? node.region.value() : regions;
    const bool outermost = on_path.enter(index, node.depth);
    FlatRow& row = rows[index];
    row.region = node.region;
    row.visit_time += totals[i].inclusive;
    row.totals.exclusive += totals[i].exclusive;
    const std::uint64_t inclusive = row.totals.inclusive;
    row.totals.add(totals[i]);
    if (!outermost) row.totals.inclusive = inclusive;
  }
  std::erase_if(
      rows, [](const FlatRow& row) { return row.totals.visits == 0 && row.totals.exclusive == 0; });
  return rows;
}

}  // namespace timeloom::profile
