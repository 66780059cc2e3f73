// Several runs of one side of a comparison: their medians, and the factors by which the machine was
// slower or faster during a run.
//
// Plain values and functions; nothing throws.
#pragma once

#include <vector>

#include "profile/diff.hpp"

namespace timeloom::profile {

// The values of one run, by the numbers of regions and nodes in the Diff.
struct RunSides {
  std::vector<DiffSide> regions;
  std::vector<DiffSide> nodes;
  double total = 0;
  double working = 0;
};

// Adds the times and visits of another call path of the same run.
DiffSide& operator+=(DiffSide& sum, const DiffSide& one);

// Divides the work in each run by the run's factor, and returns the factors. Nothing, and nothing
// is divided: there are less than three runs, or fewer than five regions with much work.
// REQUIRES: all have as many regions.
std::vector<double> divide_by_factors(const std::vector<RunSides*>& runs);

DiffTotals totals_of(const std::vector<RunSides>& runs);

// Of the entry `index` of `which` in all runs; a run without it counts with zeros.
DiffSide median_of(const std::vector<RunSides>& runs, std::vector<DiffSide> RunSides::*which,
                   std::size_t index);

}  // namespace timeloom::profile
