// Whether the frame of a coroutine waits for the one that it has called, by `await`,
// or has only called it.
//
// Differences between versions of CPython are names of operations here: a version that lacks one
// has nothing of the kind. Needs the GIL.
#pragma once

#include <algorithm>

#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

// The operation at a place of a code object, whatever a tool has put there to be notified of it.
inline int operation_at(PyCodeObject* code, Py_ssize_t place) noexcept {
  const int operation = _Py_OPCODE(_PyCode_CODE(code)[place]);
#ifdef INSTRUMENTED_INSTRUCTION
  if (operation == INSTRUMENTED_INSTRUCTION || operation == INSTRUMENTED_LINE) {
    PyObject* original = PyCode_GetCode(code);
    if (original == nullptr) return PyErr_Clear(), operation;
    const auto found = static_cast<unsigned char>(PyBytes_AS_STRING(original)[2 * place]);
    Py_DECREF(original);
    return found;
  }
  if (operation == INSTRUMENTED_RESUME) return RESUME;
  if (operation == INSTRUMENTED_YIELD_VALUE) return YIELD_VALUE;
#endif
#ifdef RESUME_CHECK
  if (operation == RESUME_CHECK) return RESUME;
#endif
#ifdef RESUME_CHECK_JIT
  if (operation == RESUME_CHECK_JIT) return RESUME;
#endif
#ifdef RESUME_QUICK
  if (operation == RESUME_QUICK) return RESUME;
#endif
  return operation;
}

// Whether the frame, which has called another one, has done so by `await` or `yield from`
// rather than by a call. The compiler makes of these SEND (with a place of its own for a cache),
// YIELD_VALUE, RESUME; the frame is in SEND, or at the yield when something is thrown into it.
inline bool is_awaiting(InterpreterFrame* frame) noexcept {
  PyCodeObject* code = code_of(frame);
  const Py_ssize_t place = _PyInterpreterFrame_LASTI(frame);
  const Py_ssize_t end = std::min(place + 4, Py_SIZE(code));
  for (Py_ssize_t i = std::max<Py_ssize_t>(place, 1); i < end; ++i) {
    if (operation_at(code, i) != RESUME || operation_at(code, i - 1) != YIELD_VALUE) continue;
    constexpr int kYieldFrom = 2;  // in the argument of RESUME; 3 is `await`
    return (_Py_OPARG(_PyCode_CODE(code)[i]) & 3) >= kYieldFrom;
  }
  return false;
}

}  // namespace timeloom::python
