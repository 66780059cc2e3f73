/* The flag by which CPython before 3.13 has its loop look for pending calls. In C, since the header
 * with its place is none for C++; see pending_call.hpp. */
#define Py_BUILD_CORE 1
#include <Python.h>

#if PY_VERSION_HEX < 0x030d0000
#include <internal/pycore_interp.h>

void timeloom_break_into(PyInterpreterState* interpreter) {
  _Py_atomic_store_relaxed(&interpreter->ceval.eval_breaker, 1);
}
#endif
