/* The directory of the program, which CPython from 3.13 on puts first into the sys.path of each
 * sub-interpreter. In C, since the header with its place is none for C++. */
#define Py_BUILD_CORE 1
#include <Python.h>

#if PY_VERSION_HEX >= 0x030d0000
#include <internal/pycore_interp.h>

int timeloom_set_first_path(const wchar_t* path) {
  PyConfig* config = &PyInterpreterState_Main()->config;
  return PyStatus_Exception(PyConfig_SetString(config, &config->sys_path_0, path)) ? -1 : 0;
}
#else
int timeloom_set_first_path(const wchar_t* path) {
  (void)path;
  return 0;
}
#endif
