// For what the tasks of a run waited while they were suspended, as the functions around tell.
//
// Pure functions, for any thread; nothing throws but std::bad_alloc. Around the suspension are
// functions of the event loop's own library (asyncio, trio), and around these the function that
// awaits one of them. The outermost of the library's functions that tells its purpose counts: a
// process that is awaited ends by a message of the kernel, but the wait is for the process.
#pragma once

#include "core/waiting_metric.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::tools {

struct Suspension {
  RegionId function;  // in which the task is suspended; undefined: it is in none
  WaitingCause cause = WaitingCause::kUnknown;
};

// Whether the node is the suspension of a task.
bool is_suspended_at(const profile::CallTree& tree, profile::NodeId node);

// REQUIRES: is_suspended_at(tree, node).
Suspension suspension_at(const profile::CallTree& tree, profile::NodeId node);

}  // namespace timeloom::tools
