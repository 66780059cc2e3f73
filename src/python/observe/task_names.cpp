#include "python/observe/task_names.hpp"

#include <new>
#include <unordered_map>

#include "python/observe/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// Names are asked for once a task: made once. Borrowed.
PyObject* interned(const char* text) {
  static auto* const kKnown = new std::unordered_map<const char*, PyObject*>;  // by the literal
  PyObject*& known = (*kKnown)[text];
  if (known == nullptr) known = PyUnicode_InternFromString(text);
  if (known == nullptr) throw std::bad_alloc();
  return known;
}

// Borrowed; nullptr when the program has not imported it.
PyObject* imported(const char* module) {
  PyObject* found = PyDict_GetItemWithError(PyImport_GetModuleDict(), interned(module));
  PyErr_Clear();
  return found;
}

Ref call(PyObject* object, const char* method) {
  Ref result(object == nullptr ? nullptr : PyObject_CallMethodNoArgs(object, interned(method)));
  PyErr_Clear();  // e.g. no event loop runs here
  return result;
}

Ref attribute(PyObject* object, const char* name) {
  Ref result(PyObject_GetAttr(object, interned(name)));
  PyErr_Clear();
  return result;
}

std::string function_of(PyObject* coroutine) {
  const Ref name = attribute(coroutine, "__qualname__");
  return name && PyUnicode_Check(name.get()) ? text_of(name.get()) : "coroutine";
}

std::string own_name_of_asyncio_task(PyObject* task) {
  const Ref name = call(task, "get_name");
  return name && PyUnicode_Check(name.get()) ? text_of(name.get()) : std::string{};
}

std::string function_of_asyncio_task(PyObject* task) {
  const Ref coroutine = call(task, "get_coro");
  return coroutine ? function_of(coroutine.get()) : std::string{};
}

// "Task-1 (main)": the names that asyncio gives say nothing.
std::string name_of_asyncio_task(PyObject* task) {
  const std::string name = own_name_of_asyncio_task(task);
  const std::string function = function_of_asyncio_task(task);
  return name.empty() || function.empty() ? std::string{} : name + " (" + function + ")";
}

// The task of asyncio that runs now, if the coroutine is its own.
Ref asyncio_task_of(PyObject* coroutine) {
  PyObject* asyncio = imported("asyncio");
  if (asyncio == nullptr) return {};
  Ref task = call(asyncio, "current_task");
  if (!task || task.get() == Py_None) return {};
  return call(task.get(), "get_coro").get() == coroutine ? std::move(task) : Ref();
}

std::string name_of_trio_task(PyObject* coroutine) {
  PyObject* trio = imported("trio.lowlevel");
  if (trio == nullptr) return {};
  const Ref task = call(trio, "current_task");
  if (!task || attribute(task.get(), "coro").get() != coroutine) return {};
  const Ref name = attribute(task.get(), "name");
  return name && PyUnicode_Check(name.get()) ? text_of(name.get()) : std::string{};
}

}  // namespace

std::string name_of_task(PyObject* coroutine) {
  const record::KeepOff nothing_of_this;
  const Ref task = asyncio_task_of(coroutine);
  std::string name = task ? name_of_asyncio_task(task.get()) : name_of_trio_task(coroutine);
  return name.empty() ? function_of(coroutine) : name;
}

std::string own_name_of_task(PyObject* coroutine) {
  const record::KeepOff nothing_of_this;
  const Ref task = asyncio_task_of(coroutine);
  return task ? own_name_of_asyncio_task(task.get()) : name_of_trio_task(coroutine);
}

std::string name_of_awaited(PyObject* value, bool by_function) {
  if (value == nullptr || value == Py_None) return {};
  const record::KeepOff nothing_of_this;
  const Ref blocking = attribute(value, "_asyncio_future_blocking");
  if (!blocking) return {};  // no future, but a message to the event loop
  std::string name = by_function ? function_of_asyncio_task(value) : name_of_asyncio_task(value);
  return name.empty() ? Py_TYPE(value)->tp_name : name;
}

}  // namespace timeloom::python
