#include "python/launch/end/at_exit.hpp"

namespace timeloom::python {
namespace {

bool call_atexit(const char* method, PyObject* function) {
  PyObject* modules = PyImport_GetModuleDict();
  const bool known = PyDict_GetItemString(modules, "atexit") != nullptr;
  const Ref atexit(PyImport_ImportModule("atexit"));
  if (!atexit) return false;
  if (!known && PyDict_DelItemString(modules, "atexit") < 0) return false;
  const Ref result(PyObject_CallMethod(atexit.get(), method, "O", function));
  return static_cast<bool>(result);
}

}  // namespace

bool register_at_exit(PyObject* function) { return call_atexit("register", function); }
bool unregister_at_exit(PyObject* function) { return call_atexit("unregister", function); }

}  // namespace timeloom::python
