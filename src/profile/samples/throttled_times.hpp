// The time of functions after they were throttled (--overhead), from samples: it is taken from the
// own time of the recorded function that was innermost, and put into call paths below it.
//
// Plain functions. REQUIRES: no other thread uses the tree meanwhile. They throw std::bad_alloc.
#pragma once

#include <span>
#include <vector>

#include "core/ids.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::profile {

// Samples of one location with the same functions open.
struct EstimatedPath {
  LocationId location;
  std::vector<RegionId> recorded;   // the outermost first; the last was innermost. Empty: no
                                    // recorded function was open
  std::vector<RegionId> throttled;  // throttled functions that it has called, each once, by its
                                    // innermost call
  std::vector<RegionId> around;     // throttled functions that called recorded ones, each once
  MetricStatistics time;            // nanoseconds of CPU time, a value for each sample
};

// A frame of the stack of a sample.
struct SampledFrame {
  RegionId region;
  bool unrecorded = false;  // see kUnrecordedFrame
};

// The functions of a stack, whose outermost frame comes first; without a location, and without
// time.
EstimatedPath estimated_path(std::span<const SampledFrame> stack);

// Adds the metrics of core/samples/estimated_time.hpp, and inclusive time without visits to the
// call paths of throttled functions. No more is taken from a function than its own time without
// waiting: if its samples add up to more, each counts for less. Samples whose innermost recorded
// function is in no call path of their location count for nothing. Samples without a recorded
// function are of a thread's outermost functions, whose calls began unseen: their time is added to
// the tree.
void add_estimates(CallTree& tree, const std::vector<EstimatedPath>& paths);

// By call path: whether its time with everything called inside is such an estimate, or contains
// one. Callers that were timed themselves are exact: only their own time is less.
std::vector<bool> estimated_nodes(const CallTree& tree);

}  // namespace timeloom::profile
