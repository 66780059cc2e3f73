// Compares two profiles, or several of each side: the times and visits of each call path and each
// region in both.
//
// Plain values and functions. REQUIRES: nobody changes the CallTrees meanwhile. They throw
// only std::bad_alloc.
//
// Of several runs a side has the medians. A machine that was slower during one run makes all
// functions slower alike: where there are three runs or more, work is divided by the factor of its
// run, the median over the regions that have much work of work / median work in all runs.
//
// Two regions are the same if their names and the names of their files, without directories,
// are the same: lines move from one version of a program to the next, and programs are
// installed in different places.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"

namespace timeloom::profile {

// The lowest and the highest value of several runs.
struct DiffRange {
  double least = 0;
  double most = 0;
};

// The times, in seconds, and visits on one of the two sides. All can be negative, see
// call_tree.hpp.
struct DiffSide {
  std::int64_t visits = 0;
  double inclusive = 0;
  double exclusive = 0;
  // Parts of `exclusive`, where they were measured, and the work with the regions inside.
  double working = 0;
  double waiting = 0;
  double inclusive_working = 0;
  bool there = false;
  bool at_least = false;      // --overhead stopped timing the function: there was more
  DiffRange working_range{};  // over the runs of the side
  DiffRange inclusive_working_range{};
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

// The sums of one side: medians of its runs.
struct DiffTotals {
  std::size_t runs = 1;
  double all = 0;      // of all roots
  double working = 0;  // as measured: not divided by factors
  DiffRange working_range{};
  std::vector<double> factors{};  // of the machine, by run; empty: too few runs or regions
  double sample = 0;              // seconds that a sample stands for; 0: calls were recorded
};

struct Diff {
  std::vector<DiffRegion> regions;  // recursive calls do not count in inclusive time again
  std::vector<DiffNode> nodes;
  DiffTotals before;
  DiffTotals after;
  bool shared = false;    // some region is in both
  bool measured = false;  // all runs have measured waiting: work is known
  // Whether some run has samples in the place of visits.
  bool sampled() const noexcept { return before.sample > 0 || after.sample > 0; }
};

struct DiffRun {
  const CallTree* tree;
  // Working and waiting time by node, in seconds, without the regions entered inside; empty:
  // waiting was not measured.
  std::vector<double> working{};
  std::vector<double> waiting{};
};

// Two standard errors of the difference of two times that are made of samples: 95 of 100
// differences by chance are smaller. 0: recorded calls have these times.
double sampling_error(const Diff& diff, double before, double after) noexcept;

Diff compare(const CallTree& before, const CallTree& after);
// REQUIRES: neither is empty.
Diff compare(std::span<const DiffRun> before, std::span<const DiffRun> after);

}  // namespace timeloom::profile
