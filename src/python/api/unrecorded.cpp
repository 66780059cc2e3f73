// _core.unrecorded: a `with` block in which the calling thread records nothing, for work of
// Timeloom's own Python files, such as imports. Begins and ends on one thread.
#include <optional>

#include "python/api/user_region.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct Unrecorded {
  PyObject_HEAD std::optional<record::KeepOff> block;
};

Unrecorded* unrecorded_of(PyObject* object) { return reinterpret_cast<Unrecorded*>(object); }

PyObject* make_unrecorded(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) new (&unrecorded_of(self)->block) std::optional<record::KeepOff>;
  return self;
}

PyObject* unrecorded_enter(PyObject* self, PyObject*) {
  unrecorded_of(self)->block.emplace();
  Py_RETURN_NONE;
}

PyObject* unrecorded_leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  unrecorded_of(self)->block.reset();
  Py_RETURN_NONE;
}

PyMethodDef kUnrecordedMethods[] = {
    {"__enter__", unrecorded_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(unrecorded_leave)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot kUnrecordedSlots[] = {{Py_tp_new, reinterpret_cast<void*>(make_unrecorded)},
                                  {Py_tp_methods, kUnrecordedMethods},
                                  {0, nullptr}};
PyType_Spec kUnrecordedSpec = {"timeloom._core.unrecorded", sizeof(Unrecorded), 0,
                               Py_TPFLAGS_DEFAULT, kUnrecordedSlots};

}  // namespace

int add_unrecorded_type(PyObject* module) {
  const Ref type(PyType_FromSpec(&kUnrecordedSpec));
  return type ? PyModule_AddObjectRef(module, "unrecorded", type.get()) : -1;
}

}  // namespace timeloom::python
