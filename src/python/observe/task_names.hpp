// Names and states of tasks, from asyncio and trio, which run them. Needs the GIL; nothing
// that is run here is recorded, and no exception is left.
#pragma once

#include <string>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// The name of the task that runs now, if `coroutine` is its coroutine, else that
// of the coroutine's function.
std::string name_of_task(PyObject* coroutine);

// The object that a suspended task waits for, as far as it has a name: another
// task, a future; empty: nothing in particular.
std::string name_of_awaited(PyObject* value);

}  // namespace timeloom::python
