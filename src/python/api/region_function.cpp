// The objects that timeloom.region() returns for functions it decorates: RegionFunction calls a
// plain function inside the region; RegionSteps runs every step of a coroutine or generator inside
// it. Neither adds a Python frame.
#include <cstddef>

#include "python/api/user_region.hpp"
#include "python/observe/tasks/tasks.hpp"
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

// True if the function is its own region, and the instrumentation is on and records it.
bool records_itself(PyObject* region) noexcept {
  return !PyUnicode_Check(region) && instrumentation_on();
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

struct RegionSteps {
  PyObject_HEAD PyObject* inner;  // a coroutine, generator or awaitable of an async generator
  PyObject* region;               // as in RegionFunction
  PyObject* function;             // that made it
  UserRegionWord word;
  bool entered;     // and not left yet: the region lasts while its task is suspended
  PyObject* block;  // instead of a region: a context manager in which each step runs
};

PyObject* g_send = nullptr;  // the name, interned

RegionSteps* steps_of(PyObject* self) { return reinterpret_cast<RegionSteps*>(self); }

EventWord region_function_word(RegionSteps* steps) noexcept {
  return steps->word.of(steps->region, steps->function);
}

// One step of a coroutine or generator. A task that is suspended in it keeps the region open: the
// first step enters it and the last one leaves it.
class Step {
 public:
  explicit Step(RegionSteps* steps) noexcept : steps_(steps) {
    if (steps->block != nullptr) {
      const Ref entered(PyObject_CallMethod(steps->block, "__enter__", nullptr));
      may_run_ = static_cast<bool>(entered);
      return;
    }
    if (!record::active()) return;
    if (!steps->entered && records_itself(steps->region)) return;
    if (!steps->entered) enter_user_region(region_function_word(steps));
    steps->entered = true;
  }
  // False, with an exception set: the step must not run.
  bool may_run() const noexcept { return may_run_; }
  // Takes the value that the step has yielded; nullptr: it has raised an exception, and is the
  // last.
  PyObject* yields(PyObject* value) noexcept {
    // A value that a generator yields goes to its caller.
    suspended_ = value != nullptr && tasks_are_tracks() && !PyGen_CheckExact(steps_->inner);
    return value;
  }
  ~Step() {
    if (steps_->block != nullptr && may_run_) leave_block();
    if (!steps_->entered || suspended_) return;
    steps_->entered = false;
    if (record::active()) leave_own_user_region(region_function_word(steps_));
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  void leave_block() noexcept {
    const ErrorGuard guard;
    const Ref left(
        PyObject_CallMethod(steps_->block, "__exit__", "OOO", Py_None, Py_None, Py_None));
    if (!left) PyErr_WriteUnraisable(steps_->block);
  }

  RegionSteps* steps_;
  bool suspended_ = false;
  bool may_run_ = true;
};

PySendResult steps_send(PyObject* self, PyObject* value, PyObject** result) {
  RegionSteps* steps = steps_of(self);
  Step step(steps);
  if (!step.may_run()) return *result = nullptr, PYGEN_ERROR;
  const PySendResult sent = PyIter_Send(steps->inner, value, result);
  if (sent == PYGEN_NEXT) step.yields(*result);
  return sent;
}

PyObject* steps_next(PyObject* self) {
  PyObject* result = nullptr;
  switch (steps_send(self, Py_None, &result)) {
    case PYGEN_NEXT: return result;
    case PYGEN_RETURN:
      if (result != Py_None) {
        // As generators do: StopIteration(result), even if the result is a tuple or an exception.
        const Ref value(result);
        const Ref stop(PyObject_CallOneArg(PyExc_StopIteration, value.get()));
        if (stop) PyErr_SetObject(PyExc_StopIteration, stop.get());
      } else {
        Py_DECREF(result);
      }
      return nullptr;
    case PYGEN_ERROR: return nullptr;
  }
  return nullptr;
}

PyObject* steps_send_method(PyObject* self, PyObject* value) {
  RegionSteps* steps = steps_of(self);
  Step step(steps);
  if (!step.may_run()) return nullptr;
  return step.yields(PyObject_CallMethodOneArg(steps->inner, g_send, value));
}

PyObject* steps_throw(PyObject* self, PyObject* arguments) {
  RegionSteps* steps = steps_of(self);
  Step step(steps);
  if (!step.may_run()) return nullptr;
  const Ref method(PyObject_GetAttrString(steps->inner, "throw"));
  return step.yields(method ? PyObject_Call(method.get(), arguments, nullptr) : nullptr);
}

PyObject* steps_close(PyObject* self, PyObject*) {
  RegionSteps* steps = steps_of(self);
  Step step(steps);
  if (!step.may_run()) return nullptr;
  return PyObject_CallMethod(steps->inner, "close", nullptr);
}

PyObject* steps_self(PyObject* self) { return Py_NewRef(self); }

int steps_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(steps_of(self)->inner);
  Py_VISIT(steps_of(self)->region);
  Py_VISIT(steps_of(self)->function);
  Py_VISIT(steps_of(self)->block);
  return 0;
}

int steps_clear(PyObject* self) {
  Py_CLEAR(steps_of(self)->inner);
  Py_CLEAR(steps_of(self)->region);
  Py_CLEAR(steps_of(self)->function);
  Py_CLEAR(steps_of(self)->block);
  return 0;
}

void steps_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  steps_clear(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyMethodDef kStepsMethods[] = {{"send", steps_send_method, METH_O, nullptr},
                               {"throw", steps_throw, METH_VARARGS, nullptr},
                               {"close", steps_close, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};
PyType_Slot kStepsSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(steps_dealloc)},
                             {Py_tp_traverse, reinterpret_cast<void*>(steps_traverse)},
                             {Py_tp_clear, reinterpret_cast<void*>(steps_clear)},
                             {Py_tp_iter, reinterpret_cast<void*>(steps_self)},
                             {Py_tp_iternext, reinterpret_cast<void*>(steps_next)},
                             {Py_am_await, reinterpret_cast<void*>(steps_self)},
                             {Py_am_send, reinterpret_cast<void*>(steps_send)},
                             {Py_tp_methods, kStepsMethods},
                             {0, nullptr}};
PyType_Spec kStepsSpec = {
    "timeloom._core.RegionSteps", sizeof(RegionSteps), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, kStepsSlots};
PyTypeObject* g_steps_type = nullptr;

PyObject* make_steps(PyObject* inner, PyObject* region, PyObject* function, PyObject* block) {
  auto* result = PyObject_GC_New(RegionSteps, g_steps_type);
  if (result == nullptr) return nullptr;
  result->inner = Py_NewRef(inner);
  result->region = Py_XNewRef(region);
  result->function = Py_XNewRef(function);
  result->word = {};
  result->entered = false;
  result->block = Py_XNewRef(block);
  PyObject_GC_Track(result);
  return reinterpret_cast<PyObject*>(result);
}

// region_steps(region, function, inner)
PyObject* make_region_steps(PyObject*, PyObject* arguments) {
  PyObject *region = nullptr, *function = nullptr, *inner = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO", &region, &function, &inner)) return nullptr;
  return make_steps(inner, region, function, nullptr);
}

// block_steps(block, inner)
PyObject* make_block_steps(PyObject*, PyObject* arguments) {
  PyObject *block = nullptr, *inner = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO", &block, &inner)) return nullptr;
  return make_steps(inner, nullptr, nullptr, block);
}

PyMethodDef kMakers[] = {{"region_function", make_function, METH_VARARGS,
                          "A callable that runs a function in a region."},
                         {"region_steps", make_region_steps, METH_VARARGS,
                          "An awaitable and iterator that runs every step of another in a region."},
                         {"block_steps", make_block_steps, METH_VARARGS,
                          "The same in a `with` block of its own for each step."},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

int add_decorator_types(PyObject* module) {
  g_function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kFunctionSpec));
  g_steps_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kStepsSpec));
  g_send = PyUnicode_InternFromString("send");
  if (g_function_type == nullptr || g_steps_type == nullptr || g_send == nullptr) return -1;
  return PyModule_AddFunctions(module, kMakers);
}

}  // namespace timeloom::python
