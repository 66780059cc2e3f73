// Several runs of one side of a comparison: their medians, and the factors by which the machine was
// slower or faster during a run.
//
// Plain values and functions for any thread; nothing is thrown but std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
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

// The two values in the middle, from which a median is computed, in the order of `key`, the smaller
// one first; of an odd number of values, the one in the middle twice. REQUIRES: there are some.
template <typename Value, typename Key = std::identity>
std::pair<Value, Value> middle_pair(std::vector<Value> values, Key key = {}) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, half, {}, key);
  if (values.size() % 2 == 1) return {*half, *half};
  return {*std::ranges::max_element(values.begin(), half, {}, key), *half};
}

// Adds the times and visits of another call path of the same run.
DiffSide& operator+=(DiffSide& sum, const DiffSide& one);

// Divides the work in each run by the run's factor, and returns the factors. Nothing, and nothing
// is divided: there are less than three runs, or fewer than five regions with much work.
// REQUIRES: all have as many regions.
std::vector<double> divide_by_factors(const std::vector<RunSides*>& runs);

DiffTotals totals_of(const std::vector<RunSides>& runs);

// The medians of the entry `index` of `which` over all runs; a run without it counts with zeros.
DiffSide median_of(const std::vector<RunSides>& runs, std::vector<DiffSide> RunSides::*which,
                   std::size_t index);

}  // namespace timeloom::profile
