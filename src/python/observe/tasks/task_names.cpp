#include "python/observe/tasks/task_names.hpp"

#include <cstring>
#include <new>

#include "python/interpreter/python_text.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"

namespace timeloom::python {
namespace {

// Names are asked for once a task: each is made once, at its first use.
class Name {
 public:
  explicit constexpr Name(const char* text) noexcept : text_(text) {}
  // Borrowed.
  PyObject* object() {
    if (object_ == nullptr) object_ = PyUnicode_InternFromString(text_);
    if (object_ == nullptr) throw std::bad_alloc();
    return object_;
  }

 private:
  const char* text_;
  PyObject* object_ = nullptr;
};

constinit Name g_asyncio("asyncio");
constinit Name g_callback("_callback");
constinit Name g_callbacks("_callbacks");
constinit Name g_blocking("_asyncio_future_blocking");
constinit Name g_coro("coro");
constinit Name g_current_task("current_task");
constinit Name g_get_coro("get_coro");
constinit Name g_get_name("get_name");
constinit Name g_name("name");
constinit Name g_qualified_name("__qualname__");
constinit Name g_self("__self__");
constinit Name g_trio("trio.lowlevel");

// Borrowed; nullptr when the program has not imported it.
PyObject* task_module(Name& module) {
  PyObject* found = PyDict_GetItemWithError(PyImport_GetModuleDict(), module.object());
  PyErr_Clear();
  return found;
}

Ref call(PyObject* object, Name& method) {
  Ref result(object == nullptr ? nullptr : PyObject_CallMethodNoArgs(object, method.object()));
  PyErr_Clear();  // e.g. no event loop runs here
  return result;
}

Ref task_attribute(PyObject* object, Name& name) {
  Ref result(PyObject_GetAttr(object, name.object()));
  PyErr_Clear();
  return result;
}

std::string coroutine_function(PyObject* coroutine) {
  const Ref name = task_attribute(coroutine, g_qualified_name);
  return name && PyUnicode_Check(name.get()) ? utf8_text(name.get()) : "coroutine";
}

// Eager tasks that the program does not name are called "None" by 3.12 and 3.13.
std::string own_name_of_asyncio_task(PyObject* task) {
  const Ref name = call(task, g_get_name);
  if (!name || !PyUnicode_Check(name.get()) || is_text(name.get(), "None")) return {};
  return utf8_text(name.get());
}

std::string function_of_asyncio_task(PyObject* task) {
  const Ref coroutine = call(task, g_get_coro);
  return coroutine ? coroutine_function(coroutine.get()) : std::string{};
}

// "Task-1 (main)": the names that asyncio gives tell nothing about the task.
std::string name_of_asyncio_task(PyObject* task) {
  const std::string name = own_name_of_asyncio_task(task);
  const std::string function = function_of_asyncio_task(task);
  return name.empty() || function.empty() ? std::string{} : name + " (" + function + ")";
}

// Borrowed; null: the frame has no such variable, or it has no value yet.
PyObject* variable_of(InterpreterFrame* frame, const char* name) {
  PyObject* const names = code_of(frame)->co_localsplusnames;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    if (is_text(PyTuple_GET_ITEM(names, i), name)) return local_of(frame, static_cast<int>(i));
  }
  return nullptr;
}

// One of asyncio's: of the module, a loop, or a group.
bool is_create_task(InterpreterFrame* frame) {
  if (!is_text(code_of(frame)->co_name, "create_task")) return false;
  PyObject* const module = PyDict_GetItemString(globals_of(frame), "__name__");
  return module != nullptr && PyUnicode_Check(module) && utf8_text(module).starts_with("asyncio.");
}

// The task of asyncio that runs now, if the coroutine is its own.
Ref asyncio_task_of(PyObject* coroutine) {
  PyObject* asyncio = task_module(g_asyncio);
  if (asyncio == nullptr) return {};
  Ref task = call(asyncio, g_current_task);
  if (!task || task.get() == Py_None) return {};
  return call(task.get(), g_get_coro).get() == coroutine ? std::move(task) : Ref();
}

std::string name_of_trio_task(PyObject* coroutine) {
  PyObject* trio = task_module(g_trio);
  if (trio == nullptr) return {};
  const Ref task = call(trio, g_current_task);
  if (!task || task_attribute(task.get(), g_coro).get() != coroutine) return {};
  const Ref name = task_attribute(task.get(), g_name);
  return name && PyUnicode_Check(name.get()) ? utf8_text(name.get()) : std::string{};
}

}  // namespace

std::string name_of_task(PyObject* coroutine) {
  const Unobserved nothing_of_this;
  std::string name = given_name_of_task(coroutine);
  return name.empty() ? coroutine_function(coroutine) : name;
}

std::string given_name_of_task(PyObject* coroutine) {
  const Unobserved nothing_of_this;
  const Ref task = asyncio_task_of(coroutine);
  return task ? name_of_asyncio_task(task.get()) : name_of_trio_task(coroutine);
}

std::string own_name_of_task(PyObject* coroutine) {
  const Unobserved nothing_of_this;
  const Ref task = asyncio_task_of(coroutine);
  return task ? own_name_of_asyncio_task(task.get()) : name_of_trio_task(coroutine);
}

// The factory of the task is called by its loop, that by the module or a group, and each of them
// may name the task: the outermost last.
std::string later_name_of_task(PyObject* coroutine, InterpreterFrame* outer, bool own) {
  constexpr int kFrames = 3;
  const Unobserved nothing_of_this;
  std::string name;
  for (int i = 0; i < kFrames && outer != nullptr; ++i, outer = outer_frame_of(outer)) {
    if (!is_create_task(outer)) continue;
    PyObject* const given = variable_of(outer, "name");
    if (given != nullptr && PyUnicode_Check(given)) name = utf8_text(given);
  }
  return own || name.empty() ? name : name + " (" + coroutine_function(coroutine) + ")";
}

std::string name_of_awaited(PyObject* value, bool by_function) {
  if (value == nullptr || value == Py_None) return {};
  const Unobserved nothing_of_this;
  const Ref blocking = task_attribute(value, g_blocking);
  if (!blocking) return {};  // no future, but a message to the event loop
  std::string name = by_function ? function_of_asyncio_task(value) : name_of_asyncio_task(value);
  return name.empty() ? Py_TYPE(value)->tp_name : name;
}

// A step is a type or method of _asyncio, or a method of the same class in Python.
TaskStep task_step_of(PyObject* callback) {
  const Unobserved nothing_of_this;
  PyObject* task = nullptr;  // borrowed
  Ref owned;
  bool wakes = false;
  if (PyCFunction_Check(callback)) {
    const PyMethodDef* method = reinterpret_cast<PyCFunctionObject*>(callback)->m_ml;
    wakes = std::strcmp(method->ml_name, "task_wakeup") == 0;
    if (wakes) task = PyCFunction_GET_SELF(callback);
  } else if (PyMethod_Check(callback)) {
    PyObject* function = PyMethod_GET_FUNCTION(callback);
    if (!PyFunction_Check(function) || !is_text(PyFunction_GetModule(function), "asyncio.tasks")) {
      return {};
    }
    PyObject* name = reinterpret_cast<PyFunctionObject*>(function)->func_qualname;
    wakes = is_text(name, "Task.__wakeup");
    if (wakes || is_text(name, "Task.__step")) task = PyMethod_GET_SELF(callback);
  } else if (std::strstr(Py_TYPE(callback)->tp_name, "TaskStepMethWrapper") != nullptr) {
    owned = task_attribute(callback, g_self);
    task = owned.get();
  }
  return task == nullptr ? TaskStep{} : TaskStep{call(task, g_get_coro), wakes};
}

Ref callback_of_handle(PyObject* handle) {
  const Unobserved nothing_of_this;
  return task_attribute(handle, g_callback);
}

std::size_t callbacks_at_end_of(PyObject* coroutine) {
  const Unobserved nothing_of_this;
  const Ref task = asyncio_task_of(coroutine);
  if (!task) return 0;
  const Ref callbacks = task_attribute(task.get(), g_callbacks);
  if (!callbacks || !PyList_Check(callbacks.get())) return 0;
  return static_cast<std::size_t>(PyList_GET_SIZE(callbacks.get()));
}

Ref coroutine_of_trio_task(PyObject* task) {
  const Unobserved nothing_of_this;
  return task_attribute(task, g_coro);
}

}  // namespace timeloom::python
