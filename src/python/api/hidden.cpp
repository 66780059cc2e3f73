// _core.hidden: a `with` block in which calls of functions on the calling thread are not recorded,
// but user regions are. _core.hide_functions(): the same until it is undone.
#include "python/api/user_region.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// No user region has this token: their numbers have 26 bits.
constexpr record::Token kHiding = record::Token{1} << 41 | 2;

PyObject* hidden_enter(PyObject*, PyObject*) {
  if (record::active()) record::t_recorder->enter_hiding(kHiding);
  Py_RETURN_NONE;
}

PyObject* hidden_leave(PyObject*, PyObject* const*, Py_ssize_t) {
  if (record::active()) record::t_recorder->leave_hiding(kHiding);
  Py_RETURN_NONE;
}

PyObject* hide_functions(PyObject*, PyObject* hide) {
  const int wanted = PyObject_IsTrue(hide);
  if (wanted < 0) return nullptr;
  if (record::active()) record::t_recorder->hide_functions(wanted == 1);
  Py_RETURN_NONE;
}

PyMethodDef kHiddenMethods[] = {
    {"__enter__", hidden_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(hidden_leave)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyMethodDef kHiddenFunctions[] = {{"hide_functions", hide_functions, METH_O, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
PyType_Slot kHiddenSlots[] = {{Py_tp_methods, kHiddenMethods}, {0, nullptr}};
PyType_Spec kHiddenSpec = {"timeloom._core.hidden", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT,
                           kHiddenSlots};

}  // namespace

int add_hidden_type(PyObject* module) {
  if (PyModule_AddFunctions(module, kHiddenFunctions) != 0) return -1;
  const Ref type(PyType_FromSpec(&kHiddenSpec));
  return type ? PyModule_AddObjectRef(module, "hidden", type.get()) : -1;
}

}  // namespace timeloom::python
