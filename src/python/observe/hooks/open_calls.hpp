// The calls that run when a program begins to be measured in the middle. Needs the GIL.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// Enters, on every thread of Python, the calls that run and are to be recorded, outermost first.
// `innermost`: the innermost such call on the calling thread, since calls inside it are Timeloom's
// own; nullptr: none runs there. REQUIRES: recording is on, and nothing is observed yet. Without
// memory calls are missing.
void enter_open_calls(PyFrameObject* innermost) noexcept;

// Defines the regions of their functions for stacks of samples, which need no enters.
void define_open_code() noexcept;

}  // namespace timeloom::python
