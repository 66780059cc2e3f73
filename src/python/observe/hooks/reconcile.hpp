// Brings what the recorders hold open in line with what really runs, after a
// time in which it was not observed. Needs the GIL.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// On every thread: leaves functions and regions that have ended and remembers
// functions that were not seen to begin, whose end is not to be recorded.
void reconcile_all_threads() noexcept;

// Only for the calling thread, and without `innermost`, which is just beginning
// (nullptr: all that run).
void reconcile_this_thread(PyFrameObject* innermost) noexcept;

// On every thread: leaves the user regions that have ended while recording was off.
void close_ended_regions() noexcept;

}  // namespace timeloom::python
