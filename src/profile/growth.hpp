// The functions whose calls take longer the more of them there were: what a list searches, or a
// string that is made anew each time, costs.
//
// A call path grows when its visits between two milestones took longer, on average, than between
// the two before them, kFactor times, for the last kDoublings doublings of their number. Other
// paths of the same function then count if they took as much longer from the first of these to the
// last, since a busy machine makes single steps uneven. Where a growing path spends half of its
// time or more in a growing path that it calls, the latter counts. Functions that call themselves
// are left out.
//
// Use: add the locations before they are merged, then take the result. Used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "profile/growing_calls.hpp"
#include "profile/location_aggregator.hpp"

namespace timeloom::profile {

class Growth {
 public:
  // `definitions` must outlive this.
  explicit Growth(const Definitions& definitions) : definitions_(definitions) {}

  void add(const AggregatedLocation& location);
  // The functions with the most time in calls that grow, at most kMost.
  std::vector<GrowingCalls> functions() const;

  static constexpr double kFactor = 1.5;  // 2: the duration grows as fast as the number of calls
  static constexpr int kDoublings = 3;
  static constexpr std::size_t kMost = 8;

 private:
  struct Function {
    std::uint64_t visits = 0;
    std::uint64_t time = 0;     // ticks, of all its growing paths
    std::uint64_t longest = 0;  // of one of them, which has the next two
    double early = 0;           // ticks a visit
    double late = 0;
    std::set<std::uint64_t> callers;  // regions
  };

  const Definitions& definitions_;
  std::map<std::uint64_t, Function> functions_;  // by region
};

}  // namespace timeloom::profile
