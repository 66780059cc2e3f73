// The cost of one event on this machine at this time.
#pragma once

#include "python/observe/instrumenter.hpp"

namespace timeloom::python {

struct EventCost {
  double event_seconds = 0;
  double ignored_seconds = 0;  // of a call to us that records nothing
};

// Times calls of an empty Python function, and of a C function, with and without
// the instrumenter, which must not be installed and is not afterwards; the events
// go to scratch memory. A cost that cannot be measured is 0. An exception of a
// signal handler meanwhile is raised again as soon as Python code runs. Needs the
// GIL and a recorder on this thread.
EventCost calibrate_events(const Instrumenter& instrumenter) noexcept;

}  // namespace timeloom::python
