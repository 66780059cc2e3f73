#include "python/user_region.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "python/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct RegionObject {
  PyObject_HEAD PyObject* name;  // str
  EventWord word;                // 0: not asked for yet
};

RegionObject* self_of(PyObject* object) { return reinterpret_cast<RegionObject*>(object); }

EventWord word_of(RegionObject* region) noexcept {
  if (region->word == 0) [[unlikely]]
    region->word = user_region_word(region->name);
  return region->word;
}

PyTypeObject* g_region_type = nullptr;
PyObject* g_words = nullptr;  // dict: name of a region -> its enter word

// Makes a function, coroutine function or generator function a region; which of
// them it is is found out in Python.
PyObject* decorate(PyObject* name, PyObject* function) {
  const Ref decorators(PyImport_ImportModule("timeloom._decorators"));
  if (!decorators) return nullptr;
  return PyObject_CallMethod(decorators.get(), "decorate", "OO", name, function);
}

// What a region can decorate; a classmethod object cannot be called itself.
bool is_decorable(PyObject* object) noexcept {
  return PyCallable_Check(object) || PyObject_TypeCheck(object, &PyClassMethod_Type) ||
         PyObject_TypeCheck(object, &PyStaticMethod_Type);
}

// region(name), and region(function) for the decorator without a name.
PyObject* region_vectorcall(PyObject* type, PyObject* const* arguments, std::size_t flags,
                            PyObject* keywords) {
  const bool one = PyVectorcall_NARGS(flags) == 1 && keywords == nullptr;
  if (one && is_decorable(arguments[0])) return decorate(Py_None, arguments[0]);
  if (!one || !PyUnicode_Check(arguments[0])) {
    PyErr_SetString(PyExc_TypeError, "region() takes one argument, its name (a str)");
    return nullptr;
  }
  auto* region = PyObject_New(RegionObject, reinterpret_cast<PyTypeObject*>(type));
  if (region == nullptr) return nullptr;
  region->name = Py_NewRef(arguments[0]);
  region->word = 0;
  return reinterpret_cast<PyObject*>(region);
}

void region_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(self_of(self)->name);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* region_enter(PyObject* self, PyObject*) {
  if (record::active()) enter_user_region(word_of(self_of(self)));
  return Py_NewRef(self);
}

PyObject* region_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  if (record::active()) leave_own_user_region(word_of(self_of(self)));
  return Py_NewRef(Py_None);
}

PyObject* region_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  PyObject* function = nullptr;
  if (keywords != nullptr || !PyArg_ParseTuple(arguments, "O", &function)) {
    PyErr_SetString(PyExc_TypeError, "a region as a decorator takes one function");
    return nullptr;
  }
  return decorate(self_of(self)->name, function);
}

PyObject* region_repr(PyObject* self) {
  return PyUnicode_FromFormat("timeloom.region(%R)", self_of(self)->name);
}

PyMethodDef kRegionMethods[] = {
    {"__enter__", region_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(region_exit)), METH_FASTCALL,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef kRegionMembers[] = {{"name", T_OBJECT, offsetof(RegionObject, name), READONLY, nullptr},
                                {nullptr, 0, 0, 0, nullptr}};
PyType_Slot kRegionSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(region_dealloc)},
                              {Py_tp_call, reinterpret_cast<void*>(region_call)},
                              {Py_tp_repr, reinterpret_cast<void*>(region_repr)},
                              {Py_tp_methods, kRegionMethods},
                              {Py_tp_members, kRegionMembers},
                              {0, nullptr}};
PyType_Spec kRegionSpec = {"timeloom.region", sizeof(RegionObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kRegionSlots};

Region user_region(PyObject* name, SourcePlace place) {
  Region region;
  region.name = text_of(name);
  region.canonical_name = region.name;
  region.paradigm = Paradigm::kUser;
  region.role = scorep_names() ? RegionRole::kFunction : RegionRole::kCode;
  region.file = std::move(place.file);
  region.first_line = place.first_line;
  region.last_line = place.last_line;
  return region;
}

// The Python function that `object` is or wraps, as functools.wraps says; may be null.
Ref function_in(PyObject* object) {
  Ref inner = object == nullptr ? Ref{} : Ref::borrow(object);
  for (int depth = 0; inner && !PyFunction_Check(inner.get()) && depth < 100; ++depth) {
    inner = Ref(PyObject_GetAttrString(inner.get(), "__wrapped__"));
    PyErr_Clear();
  }
  return inner && PyFunction_Check(inner.get()) ? std::move(inner) : Ref{};
}

SourcePlace place_of_caller() {
  for (Ref frame = Ref::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame())); frame;
       frame = Ref(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame.frame())))) {
    const Ref code(PyFrame_GetCode(frame.frame()));
    std::string file = file_of(code.code());
    if (is_own_file(file)) continue;
    const int line = PyFrame_GetLineNumber(frame.frame());
    const auto number = line > 0 ? static_cast<std::uint32_t>(line) : 0;
    return {std::move(file), number, number};
  }
  return {};
}

}  // namespace

SourcePlace place_of(PyObject* function) {
  const Ref inner = function_in(function);
  if (!inner) return place_of_caller();
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(inner.get()));
  const auto line = code->co_firstlineno > 0 ? static_cast<std::uint32_t>(code->co_firstlineno) : 0;
  return {file_of(code), line, std::max(line, last_line_of(code))};
}

bool knows_user_region(PyObject* name) noexcept {
  const ErrorGuard guard;
  return PyDict_Contains(g_words, name) == 1;
}

EventWord decorated_word(PyObject* region, PyObject* function) noexcept {
  if (PyUnicode_Check(region)) {
    const ErrorGuard guard;
    const SourcePlace place = place_of(function);
    return user_region_word(region, &place);
  }
  const Ref inner = function_in(region);
  if (!inner) return 0;
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(inner.get()));
  EventWord word = known_word(code);
  if (word == 0) word = decide_word(code, PyFunction_GET_GLOBALS(inner.get()));
  return is_region(word) ? word : 0;
}

EventWord user_region_word(PyObject* name, const SourcePlace* place) noexcept {
  const ErrorGuard guard;
  if (PyObject* known = PyDict_GetItemWithError(g_words, name))
    return PyLong_AsUnsignedLongLong(known);
  PyErr_Clear();
  try {
    const Region region = user_region(name, place != nullptr ? *place : place_of_caller());
    const EventWord word = record::enter_word(record::define_region(region));
    const Ref number(PyLong_FromUnsignedLongLong(word));
    if (!number || PyDict_SetItem(g_words, name, number.get()) != 0) PyErr_Clear();
    return word;
  } catch (const std::exception&) {
    return 0;
  }
}

void enter_user_region(EventWord word) noexcept {
  if (word == 0) return;
  const record::Token token = record::user_token(word);
  if (record::recording()) [[likely]] {
    record::t_recorder->enter(token, word);
  } else if (record::active()) {
    record::t_recorder->enter_unrecorded(token);
  }
}

namespace {

void leave_with(bool (record::ThreadRecorder::*leave)(record::Token) noexcept,
                EventWord word) noexcept {
  if (word == 0) return;
  const record::Token token = record::user_token(word);
  if (record::recording()) [[likely]] {
    if (!(record::t_recorder->*leave)(token)) record::count_unmatched_leave();
  } else if (record::active()) {
    record::t_recorder->leave_unrecorded(token);
  }
}

}  // namespace

void leave_user_region(EventWord word) noexcept {
  leave_with(&record::ThreadRecorder::leave, word);
}

void leave_own_user_region(EventWord word) noexcept {
  if (word != 0 && record::recording()) [[likely]] {
    if (record::t_recorder->leave_last(record::user_token(word))) [[likely]]
      return;
  }
  leave_with(&record::ThreadRecorder::leave_own, word);
}

int add_region_types(PyObject* module) {
  if (g_words == nullptr) g_words = PyDict_New();
  PyObject* type = PyType_FromSpec(&kRegionSpec);
  if (g_words == nullptr || type == nullptr) return -1;
  g_region_type = reinterpret_cast<PyTypeObject*>(type);
  // No slot of a spec sets this before 3.14; a call of the type costs half with it.
  g_region_type->tp_vectorcall = region_vectorcall;
  if (PyModule_AddObjectRef(module, "region", type) != 0) return -1;
  if (add_scorep_types(module) != 0) return -1;
  return add_decorator_types(module);
}

}  // namespace timeloom::python
