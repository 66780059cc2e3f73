// RegionSteps: runs every step of a coroutine or generator in a region, or as a step of an engine's
// task. Adds no Python frame.
#include <exception>
#include <memory>
#include <string_view>

#include "core/engines/engine_regions.hpp"
#include "python/api/user_region.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/observe/engines/coroutine_task.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/regions/regions_around.hpp"
#include "python/observe/tasks/tasks.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct RegionSteps {
  PyObject_HEAD PyObject* inner;  // a coroutine, generator or awaitable of an async generator
  PyObject* region;               // as in RegionFunction
  PyObject* function;             // that made it
  UserRegionWord word;
  bool entered;         // and not left yet: the region lasts while its task is suspended
  PyObject* block;      // instead of a region: a context manager in which each step runs
  CoroutineTask* task;  // instead of a region; owned
};

PyObject* g_send = nullptr;  // the name, interned

RegionSteps* steps_of(PyObject* self) { return reinterpret_cast<RegionSteps*>(self); }

EventWord steps_word(RegionSteps* steps) noexcept {
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
    if (steps->task != nullptr) steps->task->begin_step();
    if (steps->region == nullptr) return;
    if (!record::active()) return;
    if (!steps->entered && records_itself(steps->region)) return;
    if (!steps->entered) enter_user_region(steps_word(steps));
    steps->entered = true;
  }
  // False, with an exception set: the step must not run.
  bool may_run() const noexcept { return may_run_; }
  // Takes the value that the step has yielded; nullptr: it has raised an exception, and is the
  // last.
  PyObject* yields(PyObject* value) noexcept {
    // A value that a generator yields goes to its caller.
    const bool keeps_open = steps_->task != nullptr || tasks_are_tracks();
    suspended_ = value != nullptr && keeps_open && !PyGen_CheckExact(steps_->inner);
    return value;
  }
  ~Step() {
    if (steps_->block != nullptr && may_run_) leave_block();
    if (steps_->task != nullptr) steps_->task->end_step(suspended_);
    if (!steps_->entered || suspended_) return;
    steps_->entered = false;
    if (record::active()) leave_own_user_region(steps_word(steps_));
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
  delete steps_of(self)->task;
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

RegionSteps* make_steps(PyObject* inner, PyObject* region, PyObject* function, PyObject* block) {
  auto* result = PyObject_GC_New(RegionSteps, g_steps_type);
  if (result == nullptr) return nullptr;
  result->inner = Py_NewRef(inner);
  result->region = Py_XNewRef(region);
  result->function = Py_XNewRef(function);
  result->word = {};
  result->entered = false;
  result->block = Py_XNewRef(block);
  result->task = nullptr;
  PyObject_GC_Track(result);
  return result;
}

// region_steps(region, function, inner)
PyObject* make_region_steps(PyObject*, PyObject* arguments) {
  PyObject *region = nullptr, *function = nullptr, *inner = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO", &region, &function, &inner)) return nullptr;
  return reinterpret_cast<PyObject*>(make_steps(inner, region, function, nullptr));
}

// block_steps(block, inner)
PyObject* make_block_steps(PyObject*, PyObject* arguments) {
  PyObject *block = nullptr, *inner = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO", &block, &inner)) return nullptr;
  return reinterpret_cast<PyObject*>(make_steps(inner, nullptr, nullptr, block));
}

// task_steps(engine, name, is_task, lane, facts, inner)
PyObject* make_task_steps(PyObject*, PyObject* arguments) {
  const char *engine = nullptr, *name = nullptr, *lane = nullptr;
  PyObject *facts = nullptr, *inner = nullptr;
  int is_task = 0;
  if (!PyArg_ParseTuple(arguments, "sspsOO", &engine, &name, &is_task, &lane, &facts, &inner)) {
    return nullptr;
  }
  try {
    const CriticalSection critical;
    const bool hides = is_task == 0 && std::string_view(name) == kDaskOtherTask;
    const EventWord word = hides          ? other_task_word()
                           : is_task != 0 ? task_word(engine, name)
                                          : transfer_word(engine, name);
    note_region_around(payload_of(word));
    auto task = std::make_unique<CoroutineTask>(word, lane, facts_in(facts), hides);
    RegionSteps* const steps = make_steps(inner, nullptr, nullptr, nullptr);
    if (steps != nullptr) steps->task = task.release();
    return reinterpret_cast<PyObject*>(steps);
  } catch (const std::exception&) {
    return PyErr_NoMemory();
  }
}

PyMethodDef kStepsMakers[] = {
    {"region_steps", make_region_steps, METH_VARARGS,
     "An awaitable and iterator that runs every step of another in a region."},
    {"block_steps", make_block_steps, METH_VARARGS,
     "The same in a `with` block of its own for each step."},
    {"task_steps", make_task_steps, METH_VARARGS,
     "The same as a task of an engine, on a lane of its own."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int add_steps_type(PyObject* module) {
  g_steps_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kStepsSpec));
  g_send = PyUnicode_InternFromString("send");
  if (g_steps_type == nullptr || g_send == nullptr) return -1;
  return PyModule_AddFunctions(module, kStepsMakers);
}

}  // namespace timeloom::python
