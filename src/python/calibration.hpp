// What one event costs on this machine, now.
#pragma once

#include "python/instrumenter.hpp"

namespace timeloom::python {

// Times calls of an empty Python function with and without the instrumenter,
// which must not be installed and is not afterwards; the events go to scratch
// memory. Returns seconds per event, 0 when it cannot be measured. What a signal
// handler raises meanwhile is raised again as soon as Python code runs. Needs the
// GIL and a recorder on this thread.
double calibrate_event_seconds(const Instrumenter& instrumenter) noexcept;

}  // namespace timeloom::python
