// The callable that stands for a function in the hands of an engine's worker, see task_region.hpp.
#include <cstddef>
#include <exception>

#include "python/api/user_region.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct TaskCall {
  PyObject_HEAD PyObject* function;
  PyObject* key;  // a str, or a callable that returns it
  EventWord word;
  long long submitted;  // monotonic nanoseconds; negative: not known
  vectorcallfunc call;
};

TaskCall* task_call_of(PyObject* self) { return reinterpret_cast<TaskCall*>(self); }

// Null: there is none.
Ref key_object(PyObject* key) {
  if (PyUnicode_Check(key)) return Ref::borrow(key);
  const Unobserved nothing_of_this;
  return Ref(PyObject_CallNoArgs(key));
}

void put_time_in_queue(const TaskCall& task) {
  if (task.submitted < 0) return;
  const std::uint64_t now = record::monotonic_ns();
  const auto submitted = static_cast<std::uint64_t>(task.submitted);
  if (submitted <= now) put_task_queued(now - submitted);
}

void put_facts_of(const TaskCall& task) noexcept try {
  if (!record::recording()) return;
  put_time_in_queue(task);
  const ErrorGuard guard;
  const Ref key = key_object(task.key);
  if (!key) PyErr_Clear();
  if (key && PyUnicode_Check(key.get())) put_task_key(utf8_text(key.get()));
} catch (const std::exception&) {
  return;  // out of memory: the task has no key, or no time in the queue
}

PyObject* call_task(PyObject* self, PyObject* const* arguments, std::size_t flags,
                    PyObject* keywords) {
  const TaskCall& task = *task_call_of(self);
  const bool entered = record::active();
  if (entered) {
    enter_user_region(task.word);
    put_facts_of(task);
  }
  PyObject* const result = PyObject_Vectorcall(task.function, arguments, flags, keywords);
  if (entered && record::active()) leave_own_user_region(task.word);
  return result;
}

void dealloc_task(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_DECREF(task_call_of(self)->function);
  Py_DECREF(task_call_of(self)->key);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Engines ask some functions for their attributes.
PyObject* attribute_of_task(PyObject* self, PyObject* name) {
  return PyObject_GetAttr(task_call_of(self)->function, name);
}

PyMemberDef kTaskCallMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(TaskCall, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot kTaskCallSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc_task)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_getattro, reinterpret_cast<void*>(attribute_of_task)},
                                {Py_tp_members, kTaskCallMembers},
                                {0, nullptr}};
PyType_Spec kTaskCallSpec = {
    "timeloom._core.TaskCall", sizeof(TaskCall), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    kTaskCallSlots};
PyTypeObject* g_task_call_type = nullptr;

PyObject* make_task_call(PyObject*, PyObject* arguments) {
  const char *engine = nullptr, *prefix = nullptr;
  PyObject *key = nullptr, *function = nullptr;
  long long submitted = -1;
  if (!PyArg_ParseTuple(arguments, "ssOO|L", &engine, &prefix, &key, &function, &submitted)) {
    return nullptr;
  }
  try {
    const CriticalSection critical;
    const EventWord word = task_word(engine, prefix);
    auto* const task = PyObject_New(TaskCall, g_task_call_type);
    if (task == nullptr) return nullptr;
    task->function = Py_NewRef(function);
    task->key = Py_NewRef(key);
    task->word = word;
    task->submitted = submitted;
    task->call = call_task;
    return reinterpret_cast<PyObject*>(task);
  } catch (const std::exception&) {
    return PyErr_NoMemory();
  }
}

PyMethodDef kTaskCallMaker[] = {
    {"task_call", make_task_call, METH_VARARGS, "A callable that runs a function as a task."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int add_task_call_type(PyObject* module) {
  g_task_call_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kTaskCallSpec));
  return g_task_call_type == nullptr ? -1 : PyModule_AddFunctions(module, kTaskCallMaker);
}

}  // namespace timeloom::python
