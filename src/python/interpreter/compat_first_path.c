/* The directories of the sys.path that each sub-interpreter starts with: see first_path.hpp. In C,
 * since the header with their place is none for C++. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_pystate.h>

/* Found by CPython itself: the place of a PyConfig in the state of an interpreter differs between
 * releases of one version, the layout of a PyConfig does not. */
static PyConfig* main_config(void) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) return NULL;
  return (PyConfig*)_Py_GetConfig();
}

int timeloom_add_search_path(const wchar_t* path) {
  PyConfig* config = main_config();
  if (config == NULL || !config->module_search_paths_set) return 0;
  return PyStatus_Exception(PyWideStringList_Insert(&config->module_search_paths, 0, path)) ? -1
                                                                                            : 0;
}

#if PY_VERSION_HEX >= 0x030d0000
int timeloom_set_first_path(const wchar_t* path) {
  PyConfig* config = main_config();
  if (config == NULL) return 0;
  return PyStatus_Exception(PyConfig_SetString(config, &config->sys_path_0, path)) ? -1 : 0;
}
#elif PY_VERSION_HEX >= 0x030c0100 && !defined(Py_DEBUG)
#include <internal/pycore_runtime.h>
#include <stddef.h>
#include <wchar.h>

/* Here it is not in the PyConfig. It stands before the state of the main interpreter in all
 * releases since 3.12.1, which differ in its distance from the start of the runtime's state. At its
 * end Python frees it as malloc() memory, whatever allocators the program has chosen; the string
 * before may be in use elsewhere, and stays. */
_Static_assert(offsetof(_PyRuntimeState, sys_path_0) + sizeof(wchar_t*) ==
                   offsetof(_PyRuntimeState, _main_interpreter),
               "sys_path_0 is found by the state of the main interpreter");

int timeloom_set_first_path(const wchar_t* path) {
  if (Py_Version < 0x030c0100) return 0;
  wchar_t* copy = path == NULL ? NULL : wcsdup(path);
  if (path != NULL && copy == NULL) return -1;
  ((wchar_t**)PyInterpreterState_Main())[-1] = copy;
  return 0;
}
#else
int timeloom_set_first_path(const wchar_t* path) {
  (void)path;
  return 0;
}
#endif
