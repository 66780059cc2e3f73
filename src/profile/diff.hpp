// Two profiles side by side: what each call path and each region took in the one
// and in the other.
//
// Plain values and functions over CallTrees that nobody changes meanwhile.
// Nothing throws.
//
// A region is the same in both by its name and the name of its file without the
// directories: lines move from one version of a program to the next, and
// programs are installed in different places.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"

namespace timeloom::profile {

// The time and visits of one of the two runs. Times in seconds. All can be negative, see
// call_tree.hpp.
struct DiffSide {
  std::int64_t visits = 0;
  double inclusive = 0;
  double exclusive = 0;
  bool there = false;
  bool at_least = false;  // a function that --overhead has not timed to the end: there was more
};

struct DiffRegion {
  std::string name;  // empty: the call paths beyond the limit
  std::string file;  // as the later run has it, or else the earlier
  std::uint32_t line = 0;
  DiffSide before;
  DiffSide after;
};

struct DiffNode {
  NodeId parent;           // in Diff::nodes, before it; undefined: a root
  std::uint32_t region;    // in Diff::regions
  std::string parameters;  // the values that tell it apart; empty: none
  DiffSide before;
  DiffSide after;
};

struct Diff {
  std::vector<DiffRegion> regions;  // inclusive: without the time of recursive calls
  std::vector<DiffNode> nodes;
  double before = 0;  // all roots
  double after = 0;
  bool shared = false;  // some region is in both
};

Diff compare(const CallTree& before, const CallTree& after);

}  // namespace timeloom::profile
