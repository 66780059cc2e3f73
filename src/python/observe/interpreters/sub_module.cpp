// The module timeloom._sub, which lies in the file of timeloom._core and shares its state. It is
// loaded in sub-interpreters only, any number of times, also in those with a GIL of their own.
#include "python/interpreter/compat.hpp"
#include "python/observe/interpreters/sub_c_functions.hpp"
#include "python/observe/interpreters/sub_monitoring.hpp"
#include "python/observe/interpreters/sub_state.hpp"
#include "python/observe/interpreters/sub_table.hpp"
#include "python/observe/interpreters/sub_user_api.hpp"

namespace timeloom::python {
namespace {

PyObject* join_method(PyObject* module, PyObject*) {
  return PyBool_FromLong(join_measurement_from(module));
}

PyMethodDef kSubMethods[] = {
    {"join", join_method, METH_NOARGS,
     "Record the functions of this interpreter from here on; False: it cannot be recorded."},
    {nullptr, nullptr, 0, nullptr}};

void free_sub_module(void* module) {
  take_from_table(sub_interpreter_of(static_cast<PyObject*>(module)));
  forget_sub_regions(static_cast<PyObject*>(module));
  forget_c_functions(sub_interpreter_of(static_cast<PyObject*>(module)));
}

PyModuleDef_Slot kSubSlots[] = {{Py_mod_exec, reinterpret_cast<void*>(add_sub_user_api)},
                                kAnyInterpreter,
                                kWithoutGil,
                                {0, nullptr}};
PyModuleDef kSubModule = {PyModuleDef_HEAD_INIT,
                          "timeloom._sub",
                          "The part of a sub-interpreter in the measurement of its process.",
                          sizeof(SubInterpreter),
                          kSubMethods,
                          kSubSlots,
                          nullptr,
                          nullptr,
                          free_sub_module};

}  // namespace
}  // namespace timeloom::python

PyMODINIT_FUNC PyInit__sub() { return PyModuleDef_Init(&timeloom::python::kSubModule); }
