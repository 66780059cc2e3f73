// The object that an event of sys.monitoring is about.
//
// Mostly a code object that runs in the innermost frame. But from 3.13 on any library may fire
// events (PyMonitoring_Fire… of the C API), also for objects of its own: those are left out and
// counted. And for code objects that run in no frame, as Cython and numba do: the innermost frame
// is their caller's then. Needs the GIL, or on builds without one an attached thread state.
#pragma once

#include <cstdint>

#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

inline PyCodeObject* code_argument(PyObject* const* arguments) noexcept {
  return reinterpret_cast<PyCodeObject*>(arguments[0]);
}
// Whether the event is about a code object: to be asked before anything of it is read. There are no
// classes derived from code objects.
inline bool is_of_code(PyObject* const* arguments) noexcept {
  return Py_IS_TYPE(arguments[0], &PyCode_Type);
}

// Counts an event of another object.
void count_left_out_event() noexcept;
// The same, and returns None for the interpreter.
PyObject* leave_out_event() noexcept;
// The number of events left out in this process, over all measurements.
std::uint64_t events_left_out() noexcept;

// `kCall` as the callback of PY_RESUME. Cython fires this event while the exception is set that it
// throws into a generator. The interpreter would put a SystemError in its place if a callback
// returned an object then, so the exception stays and nothing is returned.
template <vectorcallfunc kCall>
PyObject* call_of_resume(PyObject* self, PyObject* const* arguments, std::size_t count,
                         PyObject* names) noexcept {
  PyObject* const result = kCall(self, arguments, count, names);
  if (PyErr_Occurred() == nullptr) [[likely]]
    return result;
  Py_XDECREF(result);
  return nullptr;
}

// The frame in which a code object runs that an event is about; nullptr: in none.
inline InterpreterFrame* frame_of_event(PyCodeObject* code) noexcept {
  InterpreterFrame* const frame = current_frame(PyThreadState_Get());
  return frame != nullptr && code_of(frame) == code ? frame : nullptr;
}
// The globals that it runs with; borrowed. nullptr: C code that runs in no frame has none.
inline PyObject* globals_of_event(PyCodeObject* code) noexcept {
  InterpreterFrame* const frame = frame_of_event(code);
  return frame == nullptr ? nullptr : globals_of(frame);
}

}  // namespace timeloom::python
