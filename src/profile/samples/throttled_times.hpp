// The time of functions after they were throttled (--overhead), from samples: it is taken from the
// own time of the recorded function that was innermost, and put into call paths below it.
//
// A plain function. REQUIRES: nobody else uses the tree meanwhile. Throws std::bad_alloc.
#pragma once

#include <vector>

#include "core/ids.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::profile {

// Samples of one location with the same functions open.
struct EstimatedPath {
  LocationId location;
  std::vector<RegionId> recorded;   // the outermost first; the last was innermost. Not empty
  std::vector<RegionId> throttled;  // that it has called, each once, by its innermost call
  std::vector<RegionId> around;     // throttled functions that called recorded ones, each once
  MetricStatistics time;            // nanoseconds of CPU time, a value for each sample
};

// Adds the metrics of core/samples/estimated_time.hpp, and inclusive time without visits to the
// call paths of throttled functions. A function never gives more than its own time without the
// waiting: where samples come to more, each counts for less. Samples whose innermost recorded
// function is in no call path of their location count for nothing.
void add_estimates(CallTree& tree, const std::vector<EstimatedPath>& paths);

}  // namespace timeloom::profile
