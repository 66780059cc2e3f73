// Subtracts the cost of measuring from the times of a profile. Recording a call adds to its visit
// (the inside part) and to the exclusive time of its caller (the outside part).
//
// The method of A. Malony and S. Shende, Overhead Compensation in Performance Profiling, Euro-Par
// 2004: from the exclusive time of a call path, the inside part is subtracted for each of its own
// visits, the outside part for each visit of its children. A plain function; it throws only
// std::bad_alloc.
#pragma once

#include <vector>

#include "core/measuring_cost.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::profile {

// `totals` with compensated times: exclusive times are never below 0, inclusive times are the sums
// over the call path and all below it; shortest and longest visits stay. REQUIRES: `totals` is the
// result of sum_locations() for the tree.
std::vector<Totals> compensate(const CallTree& tree, std::vector<Totals> totals,
                               const CallCost& cost);

}  // namespace timeloom::profile
