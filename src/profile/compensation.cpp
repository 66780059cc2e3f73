#include "profile/compensation.hpp"

#include <algorithm>
#include <cmath>

namespace timeloom::profile {

std::vector<Totals> compensate(const CallTree& tree, std::vector<Totals> totals,
                               const CallCost& cost) {
  const auto second = static_cast<double>(tree.definitions.clock.ticks_per_second);
  std::vector<double> costs(totals.size());  // in the exclusive time of each node, in ticks
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const auto visits = static_cast<double>(signed_value(totals[i].visits));
    costs[i] += visits * cost.inside * second;
    const NodeId parent = tree.nodes[i].parent;
    if (parent.defined()) costs[parent.value()] += visits * cost.outside * second;
    totals[i].inclusive = 0;
  }
  for (std::size_t i = totals.size(); i-- > 0;) {  // children come after their parents
    const auto own = static_cast<double>(signed_value(totals[i].exclusive));
    totals[i].exclusive = static_cast<std::uint64_t>(std::llround(std::max(own - costs[i], 0.0)));
    totals[i].inclusive += totals[i].exclusive;
    const NodeId parent = tree.nodes[i].parent;
    if (parent.defined()) totals[parent.value()].inclusive += totals[i].inclusive;
  }
  return totals;
}

}  // namespace timeloom::profile
