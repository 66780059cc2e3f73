// The work of single threads, and the threads or processes that do the same.
//
// Plain values made from a CallTree, in one pass over its cells: work_times() for each location by
// itself would pass over all call paths each time. Throw only std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "tools/report/findings/call_paths.hpp"

namespace timeloom::tools {

// A call path on one location: seconds, without the regions entered inside.
struct PathTime {
  profile::NodeId node;
  double working = 0;
  double waiting = 0;
};

struct WorkerTimes {
  std::size_t location = 0;  // in definitions.locations
  double working = 0;
  double waiting = 0;
  double first = 0;  // of its events, in seconds since the start of the run
  double last = 0;
  std::vector<PathTime> paths;  // in order of nodes
  // The function that the location runs: the outermost one of the project, or the body of a module
  // where most time is in none, that has kMostOfIt of the work and waiting of the project. Where
  // nothing of the project runs (a pool to which functions of libraries are given), the outermost
  // function of a library. Undefined for locations of tasks that were suspended: one thread runs
  // them all.
  RegionId role;
  static constexpr double kMostOfIt = 0.5;
  double span() const { return last - first; }
};

// A thread, or a process with all its threads.
struct Worker {
  std::string name;
  bool process = false;
  std::vector<const WorkerTimes*> threads;
  double working() const;
  double waiting() const;
  double first() const;
  double last() const;
};

// Threads that run tasks, and queues of GPUs, are left out.
std::vector<WorkerTimes> worker_times(const profile::CallTree& tree, const CallPaths& paths,
                                      const profile::LocationFilter& filter);

// Three or more processes, or threads of one process, with the same role.
std::vector<std::vector<Worker>> teams_of(const profile::CallTree& tree,
                                          const std::vector<WorkerTimes>& locations);

}  // namespace timeloom::tools
