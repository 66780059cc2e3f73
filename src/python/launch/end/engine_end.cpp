#include "python/launch/end/engine_end.hpp"

#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"

namespace timeloom::python {

void end_engines() noexcept {
  if (PyDict_GetItemString(PyImport_GetModuleDict(), "pyspark") == nullptr) return;
  const ErrorGuard guard;
  const Ref module(PyImport_ImportModule("timeloom._engines._spark_end"));
  const Ref ended(module ? PyObject_CallMethod(module.get(), "end_jvm", nullptr) : nullptr);
  PyErr_Clear();
}

}  // namespace timeloom::python
