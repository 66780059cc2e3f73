// RegionFunction, which timeloom.region() returns for a function that it decorates: calls the
// function inside the region, and adds no Python frame.
#include <cstddef>

#include "python/api/user_region.hpp"
#include "python/session/session.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct RegionFunction {
  PyObject_HEAD PyObject* function;
  PyObject* region;     // a name, or the function itself; see decorated_word()
  UserRegionWord word;  // of a name
  PyObject* dict;
  PyObject* weak_references;
  vectorcallfunc call;
};

RegionFunction* region_function_of(PyObject* self) {
  return reinterpret_cast<RegionFunction*>(self);
}

// The kind of a function stays the same, but the rules may change.
EventWord region_function_word(RegionFunction* function) noexcept {
  if (!PyUnicode_Check(function->region)) return decorated_word(function->region, nullptr);
  return function->word.of(function->region, function->function);
}

// Encloses code in the region of `word`; does nothing without a measurement.
class Inside {
 public:
  explicit Inside(RegionFunction* function) noexcept {
    if (!record::active() || records_itself(function->region)) return;
    word_ = region_function_word(function);
    enter_user_region(word_);
  }
  ~Inside() {
    if (word_ != 0 && record::active()) leave_own_user_region(word_);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  EventWord word_ = 0;
};

PyObject* function_call(PyObject* self, PyObject* const* arguments, std::size_t flags,
                        PyObject* keywords) {
  RegionFunction* function = region_function_of(self);
  const Inside inside(function);
  return PyObject_Vectorcall(function->function, arguments, flags, keywords);
}

// A function in a class is a method, as with plain functions.
PyObject* function_bind(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

int function_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(region_function_of(self)->function);
  Py_VISIT(region_function_of(self)->region);
  Py_VISIT(region_function_of(self)->dict);
  return 0;
}

int function_clear(PyObject* self) {
  Py_CLEAR(region_function_of(self)->function);
  Py_CLEAR(region_function_of(self)->region);
  Py_CLEAR(region_function_of(self)->dict);
  return 0;
}

void function_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (region_function_of(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  function_clear(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyObject* function_repr(PyObject* self) {
  return PyObject_Repr(region_function_of(self)->function);
}

// Pickled by name, as plain functions are.
PyObject* function_reduce(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(self, "__qualname__");
}

PyMethodDef kFunctionMethods[] = {{"__reduce__", function_reduce, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
PyMemberDef kFunctionMembers[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(RegionFunction, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(RegionFunction, weak_references), READONLY,
     nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(RegionFunction, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef kFunctionGetSet[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot kFunctionSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(function_dealloc)},
                                {Py_tp_traverse, reinterpret_cast<void*>(function_traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(function_clear)},
                                {Py_tp_repr, reinterpret_cast<void*>(function_repr)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(function_bind)},
                                {Py_tp_methods, kFunctionMethods},
                                {Py_tp_members, kFunctionMembers},
                                {Py_tp_getset, kFunctionGetSet},
                                {0, nullptr}};
PyType_Spec kFunctionSpec = {"timeloom._core.RegionFunction", sizeof(RegionFunction), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             kFunctionSlots};
PyTypeObject* g_function_type = nullptr;

// region_function(region, function)
PyObject* make_function(PyObject*, PyObject* arguments) {
  PyObject* region = nullptr;
  PyObject* function = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO", &region, &function)) return nullptr;
  auto* result = PyObject_GC_New(RegionFunction, g_function_type);
  if (result == nullptr) return nullptr;
  result->function = Py_NewRef(function);
  result->region = Py_NewRef(region);
  result->word = {};
  result->dict = nullptr;
  result->weak_references = nullptr;
  result->call = function_call;
  PyObject_GC_Track(result);
  return reinterpret_cast<PyObject*>(result);
}

PyMethodDef kFunctionMaker[] = {{"region_function", make_function, METH_VARARGS,
                                 "A callable that runs a function in a region."},
                                {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool records_itself(PyObject* region) noexcept {
  return !PyUnicode_Check(region) && instrumentation_on();
}

int add_decorator_types(PyObject* module) {
  g_function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kFunctionSpec));
  if (g_function_type == nullptr || PyModule_AddFunctions(module, kFunctionMaker) != 0) return -1;
  return add_steps_type(module);
}

}  // namespace timeloom::python
