// The times of a report that are estimated from samples: the times of throttled functions, and the
// own times of the functions that called them (core/samples/estimated_time.hpp).
//
// Plain values made from a CallTree. Used by one thread. They throw only std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

struct Estimate {
  std::uint64_t samples = 0;  // 0: nothing is estimated
  double seconds = 0;         // the sum of their times
  double squares = 0;         // of these in nanoseconds
  bool any() const { return samples != 0; }
  // In seconds: the true value is nearer than this in 95 of 100 cases.
  double error() const;
  void add(const Estimate& other);
  void add(const profile::MetricStatistics& values);
};

class Estimates {
 public:
  Estimates(const profile::CallTree& tree, const profile::LocationFilter& filter);

  // Whether the run has any.
  bool any() const { return any_; }
  // The part of the own time that was added to it, or taken from it.
  const Estimate& own_of(profile::NodeId node) const { return own_[node.value()]; }
  Estimate own_of(RegionId region) const { return of(own_of_regions_, region); }
  // The same for the time with everything called inside; none if the function was timed itself.
  const Estimate& total_of(profile::NodeId node) const { return total_[node.value()]; }
  Estimate total_of(RegionId region) const { return of(total_of_regions_, region); }
  // The part of it that no call path of the function contains: recorded functions that it called.
  Estimate below_of(RegionId region) const { return of(below_, region); }

 private:
  static Estimate of(const std::vector<Estimate>& all, RegionId region) {
    return region.defined() && region.value() < all.size() ? all[region.value()] : Estimate();
  }
  void add_totals(const profile::CallTree& tree, const std::vector<Estimate>& added);

  bool any_ = false;
  std::vector<Estimate> own_, total_;                                // by node
  std::vector<Estimate> own_of_regions_, total_of_regions_, below_;  // by region
};

// "~1.45s": a time, marked if it is an estimate.
std::string marked(const std::string& time, const Estimate& estimate);
// "+- 52 ms of 812 samples".
std::string error_text(const Estimate& estimate, const Terminal& terminal);

}  // namespace timeloom::tools
