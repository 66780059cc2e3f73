// Names and states of tasks, from asyncio and trio, which run them. Needs the GIL; nothing
// that is run here is recorded, and no exception is left.
#pragma once

#include <cstddef>
#include <string>

#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

// The name of the task that runs now, if `coroutine` is its coroutine; for asyncio together with
// the name of the coroutine's function: "Task-1 (main)". Otherwise the name of the function.
std::string name_of_task(PyObject* coroutine);
// The same; empty: neither asyncio nor trio runs it.
std::string given_name_of_task(PyObject* coroutine);
// The same without the function; empty: it has no name of its own.
std::string own_name_of_task(PyObject* coroutine);

// The name that asyncio gives an eager task after its first step, when the task begins: the name
// that was passed to create_task(), whose frame is above `outer`, the frame that runs the task.
// With its function, or (`own`) without. Empty: the task has its name already.
std::string later_name_of_task(PyObject* coroutine, InterpreterFrame* outer, bool own);

// The name of the object that a suspended task waits for: for another task its name, or
// (`by_function`) the name of its function; for a future its type. Empty: the task waits for the
// event loop only.
std::string name_of_awaited(PyObject* value, bool by_function);

// A callback of asyncio's event loop, if it is a step of a task: of which coroutine (else null),
// and whether the task was waiting for a future that is done now.
struct TaskStep {
  Ref coroutine;
  bool wakes = false;
};
TaskStep task_step_of(PyObject* callback);
// The callback that a handle of asyncio calls; null: the object is not such a handle.
Ref callback_of_handle(PyObject* handle);
// How many callbacks wait for the end of the task of asyncio that runs now, if `coroutine` is its
// coroutine.
std::size_t callbacks_at_end_of(PyObject* coroutine);
// The coroutine of a task of trio.
Ref coroutine_of_trio_task(PyObject* task);

}  // namespace timeloom::python
