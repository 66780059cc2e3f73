// sys.setprofile while calls of C functions are observed.
//
// While a profile function observes the call of sys.setprofile, the interpreter reports the
// return from it to the function that was just set, which in plain Python sees neither the call nor
// the return.
// Needs the GIL.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// From now on a profile function that the program sets does not see that return.
// `own`: the C function of a profiler of ours, or nullptr. For good: where nobody
// observes, sys.setprofile does what it always did.
void hide_return_of_set_profile(Py_tracefunc own) noexcept;

}  // namespace timeloom::python
