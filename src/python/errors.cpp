#include "python/errors.hpp"

#include <cstring>

namespace timeloom::python {

PyObject* g_error = nullptr;

int add_error(PyObject* module) {
  if (g_error == nullptr) {
    g_error = PyErr_NewExceptionWithDoc("timeloom.Error", "Measuring cannot be done as asked.",
                                        PyExc_RuntimeError, nullptr);
  }
  return g_error == nullptr ? -1 : PyModule_AddObjectRef(module, "Error", g_error);
}

PyObject* raise_error(const char* message) noexcept {
  const auto size = static_cast<Py_ssize_t>(std::strlen(message));
  const Ref text(PyUnicode_DecodeFSDefaultAndSize(message, size));
  if (text) PyErr_SetObject(g_error, text.get());
  return nullptr;
}

}  // namespace timeloom::python
