// Replaces functions of Python's own modules in their method tables, so that every name and
// reference in the program leads to the replacement. With the GIL; nothing throws.
#pragma once

#include "python/interpreter/compat.hpp"
#include "python/interpreter/free_threading.hpp"

namespace timeloom::python {

using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
using FastKeywords = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

template <typename Function>
struct Diverted {
  PyMethodDef* method = nullptr;
  Function original = nullptr;  // stays: a call may be in progress while the function is restored
};

template <typename Function>
PyCFunction method_of(Function function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

// Replaces the function <module>.<name> by `ours`. A function of another kind than expected is left
// alone; its calls are then not seen.
template <typename Function>
void divert(PyObject* module, const char* name, int flags, Function ours,
            Diverted<Function>& diverted) noexcept {
  const Ref function(PyObject_GetAttrString(module, name));
  if (!function || !PyCFunction_CheckExact(function.get())) return PyErr_Clear();
  PyMethodDef* method = reinterpret_cast<PyCFunctionObject*>(function.get())->m_ml;
  if (method->ml_flags != flags || method->ml_meth == method_of(ours)) return;
  with_world_stopped([&] {  // other threads may be calling it
    diverted = {method, reinterpret_cast<Function>(reinterpret_cast<void*>(method->ml_meth))};
    method->ml_meth = method_of(ours);
  });
}

// Does nothing if another tool has replaced it since.
template <typename Function>
void put_back(const Diverted<Function>& diverted, Function ours) noexcept {
  if (diverted.method == nullptr || diverted.method->ml_meth != method_of(ours)) return;
  diverted.method->ml_meth = method_of(diverted.original);
}

}  // namespace timeloom::python
