// sys.setprofile while calls of C functions are observed.
//
// The interpreter, which was to tell somebody of the call of sys.setprofile, tells
// the new function of the return. Without us it would have told nobody of either.
// Needs the GIL.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// From now on a profile function that the program sets does not see that return.
// `own`: the C function of a profiler of ours, or nullptr. For good: where nobody
// observes, sys.setprofile does what it always did.
void hide_return_of_set_profile(Py_tracefunc own) noexcept;

}  // namespace timeloom::python
