// Facts about the call paths of a run that several rules need: imports, and functions of the
// project around a call path.
//
// Plain values made from a CallTree in one pass, once per report. Nothing throws but
// std::bad_alloc.
#pragma once

#include <vector>

#include "profile/call_tree.hpp"
#include "tools/report/code_owner.hpp"

namespace timeloom::tools {

// Call paths around one, or this one itself; undefined: there is none. Of two of them, the larger
// number is inside the other one, since the nodes of a tree are in pre-order.
struct CallPath {
  profile::NodeId import;     // the innermost: Python's import system, the body of a library module
  profile::NodeId body;       // the innermost body of a module, also of the project
  profile::NodeId innermost;  // of the project: functions and bodies of modules
  profile::NodeId outermost;  // the same
  profile::NodeId function;   // the outermost function of the project, without bodies of modules
  profile::NodeId library;    // the outermost function of a library that does not start threads
  bool is_in_import() const { return import.defined(); }
  // An import itself: its time is neither in the project's modules nor in functions that these
  // call.
  bool is_importing() const {
    return import.defined() && !(innermost.defined() && innermost > import);
  }
};

using CallPaths = std::vector<CallPath>;  // by node

CallPaths call_paths(const profile::CallTree& tree, const CodeOwner& owner);

// Undefined for an undefined node.
inline RegionId region_at(const profile::CallTree& tree, profile::NodeId node) {
  return node.defined() ? tree.nodes[node.value()].region : RegionId{};
}

}  // namespace timeloom::tools
