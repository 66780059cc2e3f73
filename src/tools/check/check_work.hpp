// Work, waiting and garbage collection of a run, for rules about them.
//
// Plain values made from a CallTree, which must outlive them. They throw only std::bad_alloc.
#pragma once

#include <string>

#include "profile/call_tree.hpp"
#include "tools/check/check_rule.hpp"
#include "tools/report/work_times.hpp"

namespace timeloom::tools {

class WorkFigures {
 public:
  explicit WorkFigures(const profile::CallTree& tree);

  // Why the run cannot answer a rule of this quantity; empty: it can, or the rule is about
  // something else.
  std::string problem(const Rule& rule) const;
  // Seconds. REQUIRES: the rule is about work, waiting or collections of the run.
  double of_run(const Rule& rule) const;
  // Seconds for which the region's own calls waited by this cause.
  double of_region(RegionId region, WaitingCause cause) const;

 private:
  bool has_collections() const;
  double collections() const;

  const profile::CallTree& tree_;
  const WorkTimes times_;
};

}  // namespace timeloom::tools
