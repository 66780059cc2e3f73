/* The addresses at which threads wait for the GIL. In C, since the headers with its place are none
 * for C++; see gil_words.hpp. Only addresses are taken: nothing of the GIL is read. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stdint.h>

#ifndef Py_GIL_DISABLED
#if PY_VERSION_HEX < 0x030c0000
#include <internal/pycore_runtime.h>
#else
#include <internal/pycore_interp.h>
#endif
#endif

int timeloom_gil_words(uint64_t* from, uint64_t* to) {
#ifdef Py_GIL_DISABLED
  (void)from;
  (void)to;
  return 0;
#else
#if PY_VERSION_HEX < 0x030c0000
  const struct _gil_runtime_state* gil = &_PyRuntime.ceval.gil;
#else
  const struct _gil_runtime_state* gil = PyInterpreterState_Main()->ceval.gil;
#endif
  if (gil == NULL) return 0;
  /* Its condition variables and mutexes lie behind each other. */
  *from = (uint64_t)(uintptr_t)&gil->cond;
  *to = (uint64_t)(uintptr_t)(&gil->switch_mutex + 1);
  return 1;
#endif
}
