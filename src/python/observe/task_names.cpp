#include "python/observe/task_names.hpp"

#include "python/observe/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// Borrowed; nullptr when the program has not imported it.
PyObject* imported(const char* module) {
  return PyDict_GetItemString(PyImport_GetModuleDict(), module);
}

Ref call(PyObject* object, const char* method) {
  Ref result(object == nullptr ? nullptr : PyObject_CallMethod(object, method, nullptr));
  PyErr_Clear();  // e.g. no event loop runs here
  return result;
}

Ref attribute(PyObject* object, const char* name) {
  Ref result(PyObject_GetAttrString(object, name));
  PyErr_Clear();
  return result;
}

std::string function_of(PyObject* coroutine) {
  const Ref name = attribute(coroutine, "__qualname__");
  return name && PyUnicode_Check(name.get()) ? text_of(name.get()) : "coroutine";
}

// "Task-1 (main)": the names that asyncio gives say nothing.
std::string name_of_asyncio_task(PyObject* task) {
  const Ref name = call(task, "get_name");
  const Ref coroutine = call(task, "get_coro");
  if (!name || !PyUnicode_Check(name.get()) || !coroutine) return {};
  return text_of(name.get()) + " (" + function_of(coroutine.get()) + ")";
}

}  // namespace

std::string name_of_task(PyObject* coroutine) {
  const record::KeepOff nothing_of_this;
  if (PyObject* asyncio = imported("asyncio")) {
    const Ref task = call(asyncio, "current_task");
    if (task && task.get() != Py_None && call(task.get(), "get_coro").get() == coroutine) {
      if (std::string name = name_of_asyncio_task(task.get()); !name.empty()) return name;
    }
  }
  if (PyObject* trio = imported("trio.lowlevel")) {
    const Ref task = call(trio, "current_task");
    if (task && attribute(task.get(), "coro").get() == coroutine) {
      const Ref name = attribute(task.get(), "name");
      if (name && PyUnicode_Check(name.get())) return text_of(name.get());
    }
  }
  return function_of(coroutine);
}

std::string name_of_awaited(PyObject* value) {
  if (value == nullptr || value == Py_None) return {};
  const record::KeepOff nothing_of_this;
  const Ref blocking = attribute(value, "_asyncio_future_blocking");
  if (!blocking) return {};  // no future, but a message to the event loop
  if (std::string name = name_of_asyncio_task(value); !name.empty()) return name;
  return Py_TYPE(value)->tp_name;
}

}  // namespace timeloom::python
