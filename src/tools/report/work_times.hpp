// The time of each call path, divided into working, waiting and unmeasured time.
//
// Plain values made from a CallTree. They throw only std::bad_alloc.
//
// A run of Timeloom has measured the waiting (wall time less CPU time). In runs without it, the
// functions that are known to wait are taken to do nothing else. The time in which nobody has
// looked at the clocks of a thread is neither: its region (is_unmeasured()) lies below the function
// that was innermost, and counts there. While a thread runs a task, its time belongs to the task,
// whose location has it (is_task_run()).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measuring_cost.hpp"
#include "core/teams/openmp_waits.hpp"
#include "profile/call_tree.hpp"
#include "tools/report/report_causes.hpp"

namespace timeloom::tools {

struct WorkTimes {
  bool measured = false;  // else waiting is told by names
  // Times by node, in seconds, without the regions entered inside.
  std::vector<double> working;
  std::vector<double> waiting;
  std::vector<CauseTimes> causes;  // of the waiting
  std::vector<double> unmeasured;
  std::vector<double> measured_working;  // before what measuring cost was taken from `working`
  std::vector<std::int64_t> visits;      // by node
  double all_working = 0;
  double all_waiting = 0;
  CauseTimes all_causes;    // of it
  bool has_causes = false;  // they were looked for while the program ran
  double all_unmeasured = 0;
};

// `cost`: taken from the working times.
WorkTimes work_times(const profile::CallTree& tree, const profile::LocationFilter& filter,
                     const std::optional<CallCost>& cost = {});

// Whether all time of the region counts as waiting, whatever a CPU clock shows. `measured`: the run
// has measured waiting, so names do not matter.
// Threads of OpenMP may spin while they wait, which a CPU clock takes for work.
bool is_waiting(const Region& region, bool measured, const OpenMpWaits& openmp);

// Whether functions of this name wait for something else: a lock, a thread, data, time.
bool waits_by_name(const std::string& name);

}  // namespace timeloom::tools
