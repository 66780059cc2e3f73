// How many visits of a parallel region of OpenMP forked its teams: the others were visits of the
// teams' further members, which may be the same threads at other times.
//
// Made from a CallTree, which must outlive it; for any thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "profile/call_tree.hpp"

namespace timeloom::tools {

class ForkCounts {
 public:
  explicit ForkCounts(const profile::CallTree& tree);

  // Of the visits of a parallel region on the location. `caller`: its cell of the call path around
  // the region; nullptr: it has none.
  std::uint64_t of(const Location& location, const profile::Cell& cell,
                   const profile::Cell* caller) const;

 private:
  bool is_first(const Location& location) const;

  const profile::CallTree& tree_;
  std::map<std::pair<profile::NodeId, LocationId>, std::uint64_t> recorded_;
  // Call paths whose forks in the process are recorded.
  std::set<std::pair<profile::NodeId, LocationGroupId>> known_;
};

}  // namespace timeloom::tools
