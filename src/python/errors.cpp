#include "python/errors.hpp"

namespace timeloom::python {

PyObject* g_error = nullptr;

int add_error(PyObject* module) {
  if (g_error == nullptr) {
    g_error = PyErr_NewExceptionWithDoc("timeloom.Error", "Measuring cannot be done as asked.",
                                        PyExc_RuntimeError, nullptr);
  }
  return g_error == nullptr ? -1 : PyModule_AddObjectRef(module, "Error", g_error);
}

}  // namespace timeloom::python
