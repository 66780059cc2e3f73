// What a runtime of OpenMP tells by OMPT, as events: one function for each kind of event, called on
// the thread of the program that the event is about. Nothing throws.
#pragma once

#include "preload/openmp/ompt_interface.hpp"

namespace timeloom::ompt {

// A wrapper of this library (GOMP_parallel and the like) that passes its call on to a runtime with
// OMPT sets it to its return address: the runtime sees an address in the wrapper.
extern constinit thread_local const void* t_passed_on_for;

// Asks the runtime for the events that are recorded.
void register_events(SetCallback* set) noexcept;

}  // namespace timeloom::ompt
