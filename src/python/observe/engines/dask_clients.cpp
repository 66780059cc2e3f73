#include "python/observe/engines/dask_clients.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/engines/engine_arguments.hpp"
#include "python/observe/hooks/unobserved.hpp"

namespace timeloom::python {
namespace {

constexpr char kMark[] = "timeloom";            // as in python/timeloom/_engines/_dask_marks.py
constexpr char kProbe[] = "timeloom-mark-";     // the same
constexpr std::size_t kMostOthers = 1'000'000;  // tasks that are at the worker and have not started

// Keys that are noted and have not started, and actors.
class OtherTasks {
 public:
  // Empty: no task is another client's.
  void hide(std::string mark) {
    const std::scoped_lock lock(mutex_);
    hides_.store(!mark.empty(), std::memory_order_relaxed);
    mark_ = std::move(mark);
    others_.clear();
  }
  bool hides() const noexcept { return hides_.load(std::memory_order_relaxed); }
  std::string mark() {
    const std::scoped_lock lock(mutex_);
    return mark_;
  }
  void note(const std::string& key, bool is_other, bool is_actor) {
    const std::scoped_lock lock(mutex_);
    if (!is_other) {
      others_.erase(key);
    } else if (others_.size() < kMostOthers) {
      others_.insert_or_assign(key, is_actor);
    }
  }
  bool take(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = others_.find(key);
    if (found == others_.end()) return false;
    if (!found->second) others_.erase(found);
    return true;
  }
  bool has(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    return others_.contains(key);
  }
  void forget(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    others_.erase(key);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> hides_ = false;  // there is a mark
  std::string mark_;
  std::unordered_map<std::string, bool> others_;  // whether it is an actor
};

OtherTasks& other_tasks() {
  static auto* const kOthers = new OtherTasks;  // threads of the worker may outlive all else
  return *kOthers;
}

std::string mark_in(PyObject* annotations) {
  if (!PyDict_Check(annotations)) return {};
  const Ref mark = Ref::borrow(PyDict_GetItemString(annotations, kMark));
  return mark && PyUnicode_Check(mark.get()) ? utf8_text(mark.get()) : std::string();
}

Ref attribute(PyObject* object, const char* name) {
  return object == nullptr ? Ref() : Ref(PyObject_GetAttrString(object, name));
}

// A copy of the dict worker.state.actors, which the worker's event loop may change.
Ref actors_of_worker(PyObject* state_of_threads) {
  if (state_of_threads == nullptr || !PyDict_Check(state_of_threads)) return {};
  const Ref worker = Ref::borrow(PyDict_GetItemString(state_of_threads, "worker"));
  const Ref actors = attribute(attribute(worker.get(), "state").get(), "actors");
  return actors && PyDict_Check(actors.get()) ? Ref(PyDict_Copy(actors.get())) : Ref();
}

// The text of the actor's key; empty: it is not among them.
std::string key_of_actor(PyObject* actors, PyObject* actor) {
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(actors, &at, &key, &value) != 0;) {
    if (value == actor) return text_of_key(key);
  }
  return {};
}

}  // namespace

bool runs_other_actor(InterpreterFrame* frame) {
  PyObject* const function = argument_named(frame, "func");
  if (function == nullptr || other_tasks().mark().empty()) return false;
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  const Ref actor = attribute(function, "__self__");
  const Ref actors = actors_of_worker(argument_named(frame, "execution_state"));
  PyErr_Clear();
  return actor && actors && other_tasks().has(key_of_actor(actors.get(), actor.get()));
}

bool hides_other_tasks() noexcept { return other_tasks().hides(); }

void note_client_of_task(const std::string& key, PyObject* annotations, bool is_actor) {
  const std::string own = other_tasks().mark();
  if (own.empty()) return;
  const ErrorGuard guard;
  other_tasks().note(key, mark_in(annotations) != own, is_actor);
}

bool looks_for_mark(const std::string& key) noexcept { return key.starts_with(kProbe); }

bool take_other_task(const std::string& key) { return other_tasks().take(key); }

void forget_client_of_task(const std::string& key) { other_tasks().forget(key); }

namespace {

// hide_other_tasks(mark)
PyObject* hide_other_tasks(PyObject*, PyObject* mark) {
  if (!PyUnicode_Check(mark)) Py_RETURN_NONE;
  try {
    other_tasks().hide(utf8_text(mark));
    Py_RETURN_NONE;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

// note_client_of_task(key, annotations, is_actor)
PyObject* note_client(PyObject*, PyObject* arguments) {
  const char* key = nullptr;
  PyObject* annotations = nullptr;
  int is_actor = 0;
  if (!PyArg_ParseTuple(arguments, "sOp", &key, &annotations, &is_actor)) return nullptr;
  try {
    note_client_of_task(key, annotations, is_actor != 0);
    Py_RETURN_NONE;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

// take_other_task(key)
PyObject* take_other(PyObject*, PyObject* key) {
  if (!PyUnicode_Check(key)) Py_RETURN_FALSE;
  try {
    return PyBool_FromLong(take_other_task(utf8_text(key)) ? 1 : 0);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyMethodDef kClientMethods[] = {
    {"hide_other_tasks", hide_other_tasks, METH_O, "Hides tasks without this mark in a worker."},
    {"note_client_of_task", note_client, METH_VARARGS, "Notes whose task has come."},
    {"take_other_task", take_other, METH_O, "Whether the task is another client's."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int add_dask_clients(PyObject* module) { return PyModule_AddFunctions(module, kClientMethods); }

}  // namespace timeloom::python
