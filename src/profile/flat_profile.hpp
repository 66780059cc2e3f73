// The flat profile: one row for each region, summed over its call paths.
//
// Plain functions. REQUIRES: nobody changes the CallTree meanwhile. They throw only std::bad_alloc.
#pragma once

#include <vector>

#include "profile/call_tree.hpp"

namespace timeloom::profile {

struct FlatRow {
  RegionId region;  // undefined: the call paths beyond the limit
  // All visits, but the inclusive time only of visits that are not inside another visit of
  // the same region, so that recursion counts no time twice.
  Totals totals;
  // The time of all visits, recursive ones included: divided by visits, their mean.
  std::uint64_t visit_time = 0;
};

// The regions that were visited or took time, in order of their ids. REQUIRES: `totals` is
// the result of sum_locations() for the tree.
std::vector<FlatRow> flat_profile(const CallTree& tree, const std::vector<Totals>& totals);

}  // namespace timeloom::profile
