// Tasks (--async-tasks): every coroutine that something other than a coroutine
// drives (asyncio, trio, a generator) is a track of its own.
//
// On its track a function stays open while it is suspended, inside the region
// "suspended"; the thread that runs the task is in the region "task" meanwhile.
// Needs nothing of the event loops but what they do anyway: the coroutine at the
// outer end of a chain of awaits is the task. Only its name, and who created it,
// are asked of asyncio and trio.
//
// Called by the instrumenters for coroutines, asynchronous generators and
// generators made awaitable, which all have to report, also those that a filter
// excludes. Needs the GIL.
#pragma once

#include "core/event_word.hpp"
#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

inline bool is_awaitable(PyCodeObject* code) noexcept {
  constexpr int kFlags = CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
  return (code->co_flags & kFlags) != 0;
}

// A frame of an awaitable is about to run a step. `outer`: the frame that drives
// it; `starts`: it has not run before. True: its enter is to be recorded; false:
// it was only suspended.
bool task_step_begins(PyObject* generator, InterpreterFrame* outer, bool starts) noexcept;
// It yields `value`. True: to the code that asked it for a value, so that its leave is to
// be recorded and then task_step_ends() to be called; false: the task is suspended.
bool task_step_yields(PyObject* generator, InterpreterFrame* outer, PyObject* value) noexcept;
// It has returned or raised; its leave has been recorded.
void task_step_ends(PyObject* generator) noexcept;

// Whether tasks are tracks at this moment.
bool tasks_are_tracks() noexcept;

// The word of the region kTaskRun or kSuspended (core/waiting_metric.hpp). Throws std::bad_alloc.
EventWord word_of_task_part(const char* name);

// Whether the calling thread runs a task.
bool runs_task() noexcept;
// The task of this coroutine, if it is suspended, was woken by the record with this number
// (wakeups.hpp) and refers to it when it goes on.
bool is_suspended_task(PyObject* coroutine) noexcept;
void note_wakeup(PyObject* coroutine, std::uint64_t number) noexcept;

// The instrumenter begins or stops to report. `on_lanes`: see lanes.hpp.
void begin_tasks(bool on_lanes) noexcept;
void pause_tasks() noexcept;
// The measurement ends, or goes on in the child of a fork: no track is valid any more.
void forget_tasks() noexcept;

}  // namespace timeloom::python
