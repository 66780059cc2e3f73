// The wakers of tasks (--async-tasks): a number is recorded where a wakeup is brought about, and
// again where the task goes on (core/wakeups.hpp).
//
// A task is woken when the event loop makes a handle for its next step. That happens
//   - in a task that sets the result of a future, an event, a queue: there the wakeup is recorded
//   - in a callback. Whatever handed the callback to the loop wakes the task, be it a task, another
//     thread, or the end of a task; the wakeup was recorded there, as a callback may wake. A
//     callback of a timer or of a file that is ready wakes the task itself.
// Needs nothing of the program but calls of asyncio.Handle, whose code is watched; wakeups in loops
// with handles of their own (uvloop) are not seen. trio has a function for it.
//
// Needs the GIL.
#pragma once

#include <cstdint>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// From now on the functions that wake tasks are watched.
void watch_wakeups();
// The callbacks known so far wake nobody any more; the numbers of wakeups go on.
void forget_wakeups() noexcept;

// The task that the calling thread runs ends: it wakes those who wait for its end. Called on the
// track of the task, by its outermost coroutine.
void record_wakeups_at_end(PyObject* coroutine) noexcept;

}  // namespace timeloom::python
