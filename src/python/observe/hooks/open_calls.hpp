// The calls that run when a program begins to be measured in the middle. Needs the GIL.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// Enters, on every thread of Python, the calls that run and are to be recorded, outermost first.
// `innermost`: the innermost such call on the calling thread, since calls inside it are Timeloom's
// own; nullptr: none runs there. REQUIRES: recording is on, and nothing is observed yet. Without
// memory calls are missing.
void enter_open_calls(PyFrameObject* innermost) noexcept;

// Defines the regions of their functions for stacks of samples, which need no enters. `innermost`:
// as above, but nullptr: all frames of the calling thread are the program's.
void define_open_code(PyFrameObject* innermost = nullptr) noexcept;
// The threads of Python that run already take part from here on, for samples: no call is entered.
void bring_in_running_threads() noexcept;

}  // namespace timeloom::python
