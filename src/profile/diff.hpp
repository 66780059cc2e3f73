// Compares two profiles: the times and visits of each call path and each region in both.
//
// Plain values and functions. REQUIRES: nobody changes the CallTrees meanwhile. Nothing
// throws.
//
// Two regions are the same if their names and the names of their files, without directories,
// are the same: lines move from one version of a program to the next, and programs are
// installed in different places.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"

namespace timeloom::profile {

// The times, in seconds, and visits in one of the two runs. All can be negative, see
// call_tree.hpp.
struct DiffSide {
  std::int64_t visits = 0;
  double inclusive = 0;
  double exclusive = 0;
  bool there = false;
  bool at_least = false;  // --overhead stopped timing the function: there was more
};

struct DiffRegion {
  std::string name;  // empty: the call paths beyond the limit
  std::string file;  // from the later run, or else from the earlier one
  std::uint32_t line = 0;
  DiffSide before;
  DiffSide after;
};

struct DiffNode {
  NodeId parent;           // in Diff::nodes, before it; undefined: a root
  std::uint32_t region;    // in Diff::regions
  std::string parameters;  // the values of its parameters; empty: none
  DiffSide before;
  DiffSide after;
};

struct Diff {
  std::vector<DiffRegion> regions;  // recursive calls do not count in inclusive time again
  std::vector<DiffNode> nodes;
  double before = 0;  // all roots
  double after = 0;
  bool shared = false;  // some region is in both
};

Diff compare(const CallTree& before, const CallTree& after);

}  // namespace timeloom::profile
