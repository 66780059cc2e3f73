// The region of an engine's task, and the parameter with its key. All functions need the GIL or, on
// builds without one, an attached thread state; those that record do so on the calling thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/event_word.hpp"
#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

// The enter word of all tasks of a prefix; the same for each prefix after the first 1,000. Needs a
// CriticalSection. Throws std::bad_alloc.
EventWord task_word(const std::string& engine, const std::string& prefix);

// Told of the first task of each prefix before it runs; null: nobody is. Needs the GIL.
extern void (*g_on_new_task)(const std::string& engine, const std::string& prefix) noexcept;

// The word of a region in which the engine moves values, without a task. Throws as task_word().
EventWord transfer_word(const char* engine, const char* name);

// The word of a region in which the engine's scheduler works. Throws as task_word().
EventWord scheduler_word(const char* engine, const char* name);

// The word of the region of a task of Dask whose functions are hidden. Throws as task_word().
EventWord other_task_word();

// Hides the functions that the calling thread calls from now on, until the region around ends: the
// one of a task that another client has asked for.
void hide_functions_of_task() noexcept;

// Enters the region in the call that the frame is about to run; it ends with the call. `recorded`:
// the function itself is recorded, as the region around this one, whose leave closes both.
void enter_in_call(InterpreterFrame* frame, bool recorded, EventWord word);

// Records the key of the task that was just entered. A profile has no place for it: there are as
// many keys as tasks. Throws std::bad_alloc.
void put_task_key(const std::string& key);
// The key of a task that the region just entered has asked for. Throws as put_task_key().
void put_submitted(const std::string& key);
// The same for the time that it has spent in the queue.
void put_task_queued(std::uint64_t nanoseconds);
// The same for the key of a task whose value this one takes.
void put_task_need(const std::string& key);
// The same for a number of a task: kStageParameter and the like.
void put_task_number(const char* parameter, std::uint64_t number);
// The same for a text.
void put_task_text(const char* parameter, const std::string& text);

// Adds task_call(engine, prefix, key, function, submitted) to the module: it returns a callable
// that calls the function as a task, and adds no frame of Python. -1 on failure.
int add_task_call_type(PyObject* module);
// Adds ray_submission(method, reference) to the module: it returns a method that calls `method` in
// a region `ray.remote`. It records the id of the task that the call asked for, found by an object
// of the type `reference` in the result, and the ids of the tasks whose values the task takes,
// found by such objects in the arguments `args` and `kwargs`. -1 on failure.
int add_submission_type(PyObject* module);

}  // namespace timeloom::python
