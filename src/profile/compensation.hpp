// The times of a profile less what measuring cost, which observing a call adds to its visit
// (inside) and to the own time of its caller (outside).
//
// The method is that of A. Malony and S. Shende, Overhead Compensation in Performance Profiling,
// Euro-Par 2004: the inside part is taken from the own time of a call path for each of its
// visits, the outside part for each visit to what it calls. A plain function; nothing throws.
#pragma once

#include <vector>

#include "core/measuring_cost.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::profile {

// `totals` with other times: exclusive ones are never below 0, inclusive ones are those of the
// call path and all below it; shortest and longest visits stay. REQUIRES: `totals` is the result
// of sum_locations() for the tree.
std::vector<Totals> compensate(const CallTree& tree, std::vector<Totals> totals,
                               const CallCost& cost);

}  // namespace timeloom::profile
