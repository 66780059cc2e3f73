// Sub-interpreters of the measured process: their functions are recorded into the streams of the
// threads that run them, inside a region "interpreter N".
//
// A sub-interpreter joins by itself: timeloom_follow.py, which its start imports, loads the module
// timeloom._sub there (sub_module.cpp) and calls join(). From then on the interpreter has a tool of
// sys.monitoring and callbacks of its own. No object of one interpreter is touched by another.
//
// It may have a GIL of its own. So the GIL of the main interpreter guards nothing here: callbacks
// record inside a NativeCall, and the session tells them the atomic values below.
#pragma once

#include <cstdint>

namespace timeloom::python {

// The way in which a session records sub-interpreters.
enum class SubInterpreters : std::uint8_t {
  kNone,      // they cannot join
  kFixed,     // excluded functions can be left out once and for all: the rules do not change
  kChanging,  // the rules change with a window of the recording
};

struct SubInterpreterPlan {
  SubInterpreters how = SubInterpreters::kNone;
  bool c_functions = false;
};

// Called by the session, with the GIL of the main interpreter: when a measurement begins and ends,
// and whenever calls begin or cease to be observed.
void admit_sub_interpreters(SubInterpreterPlan plan) noexcept;
void observe_sub_interpreters(bool on) noexcept;

// For sub-interpreters; any thread.
SubInterpreters sub_interpreters_admitted() noexcept;
bool c_functions_admitted() noexcept;
bool sub_interpreters_observed() noexcept;
// Changes whenever observing begins, so that earlier decisions are made anew.
std::uint64_t sub_interpreters_epoch() noexcept;

}  // namespace timeloom::python
