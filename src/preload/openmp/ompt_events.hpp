// Records the events that a runtime of OpenMP reports by OMPT: one callback for each kind of event,
// called on the thread that the event is about. Nothing throws.
#pragma once

#include "preload/openmp/ompt_interface.hpp"

namespace timeloom::ompt {

// The return address of a wrapper of this library (GOMP_parallel and the like) while it passes its
// call on to a runtime with OMPT, which would otherwise report an address in the wrapper.
extern constinit thread_local const void* t_passed_on_for;

// Asks the runtime for the events that are recorded.
void register_events(SetCallback* set) noexcept;

}  // namespace timeloom::ompt
