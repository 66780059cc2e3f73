// `timeloom report --function NAME`: one function, its callers and what it calls; by a pattern the
// same of several together.
//
// Plain values made from a CallTree. Used by one thread; throws Error as noted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "tools/report/estimates/estimates.hpp"
#include "tools/report/native/native_times.hpp"
#include "tools/report/report_causes.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"
#include "view/answers/source_files.hpp"

namespace timeloom::tools {

// The regions that `name` means: all with this name; else all whose name ends so after a dot or
// colon; else all that differ in case only; else all whose name ends so anywhere; else, if it has a
// * or ?, all that it matches as a pattern; else all at a place ("app.py:12"). Throws Error with
// suggestions when there is none, and with the candidates when there are several of different names
// that no pattern matches.
std::vector<RegionId> find_function(const Definitions& definitions, const std::string& name);

struct Neighbour {
  RegionId region;      // undefined: a caller that is nobody, or `beyond`
  bool beyond = false;  // call paths beyond the limit, see profile/call_tree_sink.hpp
  double total = 0;     // seconds of the visits from the caller, or of the callee
  std::int64_t visits = 0;
};

// Times in seconds, work and waiting together. Visits inside another visit of the function
// count, but their time only once: what a recursive function calls has time where only calls of the
// function itself lie between it and the outermost visit. `exclusive_outside` and the callees are
// together `total`.
struct FunctionFacts {
  RegionId region;                 // the first
  std::vector<std::string> names;  // of all, in order
  double exclusive = 0;            // own: working, waiting and unmeasured
  double exclusive_outside = 0;    // without the exclusive time of visits inside its callees
  double working = 0;
  double waiting = 0;
  CauseTimes causes;  // of the waiting
  double unmeasured = 0;
  double total = 0;
  double shortest = 0, longest = 0;
  std::int64_t visits = 0;
  bool at_least = false;           // as many visits: the function was not timed to the end
  Estimate own_estimate;           // of `exclusive`
  Estimate total_estimate;         // of `total`
  double below = 0;                // a part of `total` in recorded callees of other call paths
  std::vector<Neighbour> callers;  // by their time
  std::vector<Neighbour> callees;
};

FunctionFacts function_facts(const profile::CallTree& tree, const profile::LocationFilter& filter,
                             const std::vector<RegionId>& regions);

void write_function(const FunctionFacts& facts, const profile::CallTree& tree,
                    const Terminal& terminal, Output& output);
// `shares`: of its own time in compiled code. `source`: where it was asked for.
// `lines`: the same by source line.
void write_function_json(const FunctionFacts& facts, const NativeShares& shares,
                         const std::vector<view::LineTime>& lines,
                         const std::optional<view::SourceLines>& source,
                         const profile::CallTree& tree, Output& output);

}  // namespace timeloom::tools
