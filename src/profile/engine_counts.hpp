// The tasks of engines (Dask, Celery) in a profile, and the workers that ran them.
//
// Plain functions. REQUIRES: nobody changes the CallTree meanwhile. They throw only std::bad_alloc.
#pragma once

#include <string>
#include <vector>

#include "profile/call_tree.hpp"

namespace timeloom::profile {

// For each node the task that it lies in, or is: the region of the nearest task above; undefined:
// none.
std::vector<RegionId> tasks_of_nodes(const CallTree& tree);

// The workers that the locations belong to, in the order of tree.locations; empty: to none. The
// name is the engine's, or the name of the process where the engine has none.
std::vector<std::string> workers_of_locations(const CallTree& tree,
                                              const std::vector<RegionId>& tasks);

// The worker that runs a task on a thread: the engine's name, or the name of the process where the
// engine has none.
std::string worker_of_task(const Definitions& definitions, const Location& location);

// "4 workers (Dask), 1,204 tasks", with each run of a task; empty: there are none. After it
// "without 3 tasks of other clients", whose functions are hidden, if there are any. In a run of
// several hosts "4 workers on 2 hosts (Dask), 1,204 tasks, clocks within 310 µs", if they were
// compared.
std::string engine_text(const CallTree& tree);

}  // namespace timeloom::profile
