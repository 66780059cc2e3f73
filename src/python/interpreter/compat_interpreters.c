/* The interpreters of this process. In C, since the headers with their list are none for C++; see
 * interpreter_counts.hpp. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#include <stdint.h>

#if PY_VERSION_HEX < 0x030d0000
#define LOCK_INTERPRETERS() PyThread_acquire_lock(_PyRuntime.interpreters.mutex, WAIT_LOCK)
#define UNLOCK_INTERPRETERS() PyThread_release_lock(_PyRuntime.interpreters.mutex)
#else
#define LOCK_INTERPRETERS() PyMutex_Lock(&_PyRuntime.interpreters.mutex)
#define UNLOCK_INTERPRETERS() PyMutex_Unlock(&_PyRuntime.interpreters.mutex)
#endif

void timeloom_count_interpreters(int64_t* begun, int64_t* alive) {
  LOCK_INTERPRETERS();
  *begun = _PyRuntime.interpreters.next_id;
  *alive = 0;
  for (PyInterpreterState* one = _PyRuntime.interpreters.head; one != NULL; one = one->next)
    ++*alive;
  UNLOCK_INTERPRETERS();
}
