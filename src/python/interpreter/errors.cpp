#include "python/interpreter/errors.hpp"

#include <cstring>

#include "python/interpreter/python_text.hpp"

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

std::string take_exception_text() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const Ref owned_type(type), owned_value(value), owned_traceback(traceback);
  const Ref text(value == nullptr ? nullptr : PyObject_Str(value));
  if (!text) PyErr_Clear();
  const std::string said = text ? bytes_of(text.get()) : "unknown error";
  const bool named = said.empty() && PyType_Check(type);
  return named ? reinterpret_cast<PyTypeObject*>(type)->tp_name : said;
}

}  // namespace timeloom::python
