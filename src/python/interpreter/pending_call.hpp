// Calls on the main thread, between two instructions of the program.
#pragma once

namespace timeloom::python {

// Has the main thread call `function` soon. Any thread, without the GIL. False: CPython's list of
// such calls is full.
//
// Before 3.13 Py_AddPendingCall() breaks into the interpreter only when the main thread calls it
// itself, so that a main thread that computes would not look at the list until another thread wants
// the GIL.
bool call_on_main_thread(int (*function)(void*)) noexcept;

}  // namespace timeloom::python
