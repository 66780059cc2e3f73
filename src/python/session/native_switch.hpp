// Recording switched off and on by native code (timeloom.h), on any thread.
#pragma once

namespace timeloom::python {

// Also on threads that Python does not know. On a thread of a sub-interpreter, which may have a GIL
// of its own, nothing happens.
void switch_for_native_code(bool on) noexcept;

}  // namespace timeloom::python
