/* A module whose functions are recorded, below the Python functions that call them. */
#include <Python.h>

__attribute__((noinline)) static long step(long n) { return n + 1; }

static PyObject* run(PyObject* self, PyObject* callback) {
  (void)self;
  long n = step(0);
  if (callback != Py_None) {
    PyObject* const result = PyObject_CallNoArgs(callback);
    if (result == NULL) return NULL;
    Py_DECREF(result);
  }
  return PyLong_FromLong(step(n));
}

static PyMethodDef functions[] = {{"run", run, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "compiled_module", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_compiled_module(void) { return PyModule_Create(&module); }
