// One sub-interpreter, as the state of its module timeloom._sub: made by zeroing, and freed with
// the module. Needs the GIL of the interpreter; without a GIL, threads change members that are not
// atomic in a CriticalSection.
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <map>
#include <string>

#include "python/interpreter/compat.hpp"
#include "record/open_stack.hpp"
#include "timeloom/timeloom.h"

namespace timeloom::python {

// The regions that the interpreter's program has marked.
struct SubRegions {
  std::map<std::string, timeloom_region*> by_name;
};

struct SubCFunctions;  // the decisions on C functions: sub_c_functions.cpp

struct SubInterpreter {
  static constexpr std::size_t kIndices = 256;  // CPython has no more

  std::atomic<bool> asked;  // to join, at any time
  std::atomic<bool> joined;
  int tool;                          // of sys.monitoring
  long python_events, call_event;    // as sys.monitoring numbers them
  PyObject* disable;                 // sys.monitoring.DISABLE
  std::atomic<std::uint64_t> epoch;  // sub_interpreters_epoch() when the rules were taken
  // Of the place in code objects that keeps the decisions of these rules.
  std::atomic<Py_ssize_t> index;
  std::bitset<kIndices> indices;          // that the interpreter has given us
  std::atomic<std::uint64_t> region;      // of the interpreter: as a code object keeps its own
  std::atomic<std::uint64_t> collection;  // the region of its collections of garbage: the same
  SubRegions* regions;                    // nullptr: none yet
  SubCFunctions* c_functions;             // nullptr: none yet
};

inline SubInterpreter& sub_interpreter_of(PyObject* module) noexcept {
  return *static_cast<SubInterpreter*>(PyModule_GetState(module));
}
// The token of the interpreter's region.
inline record::Token token_of(const SubInterpreter& sub) noexcept {
  return reinterpret_cast<record::Token>(&sub);
}

// Takes the rules in force, and the number of the measurement. False: the interpreter has no room
// for their decisions.
bool take_rules(SubInterpreter& sub) noexcept;

}  // namespace timeloom::python
