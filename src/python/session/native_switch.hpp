// Native code (timeloom.h) switches recording off and on, on any thread. Nothing throws.
#pragma once

namespace timeloom::python {

// Works also on threads that Python does not know. Does nothing on a thread of a sub-interpreter,
// which may have its own GIL.
void switch_for_native_code(bool on) noexcept;

}  // namespace timeloom::python
