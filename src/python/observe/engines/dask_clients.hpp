// The tasks at a worker of Dask that clients of other programs have asked for. Clients of the
// measured program mark their tasks by an annotation, which has the id of the run.
//
// Thread-safe; need the GIL or, on builds without one, an attached thread state. Throw
// std::bad_alloc.
#pragma once

#include <Python.h>

#include <string>

#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

// Whether functions of other clients' tasks are hidden in this worker. Throws nothing.
bool hides_other_tasks() noexcept;

// Notes whether a task that has come is another client's. `annotations`: of the task; no dict: it
// has none.
void note_client_of_task(const std::string& key, PyObject* annotations, bool is_actor);

// Whether the task is one by which a client finds out if marks come to the worker. It is not the
// program's.
bool looks_for_mark(const std::string& key) noexcept;

// Whether the task that starts is another client's, and forgets that unless it is an actor, whose
// methods have the same key. False: it is not, or nothing is known.
bool take_other_task(const std::string& key);

// Whether the frame, which is about to run, is _run_actor(func, ...) for a method of another
// client's actor. Runs code of the worker.
bool runs_other_actor(InterpreterFrame* frame);

// The worker has done with the task.
void forget_client_of_task(const std::string& key);

// Adds hide_other_tasks(), note_client_of_task() and take_other_task() to the module; -1 on
// failure.
int add_dask_clients(PyObject* module);

}  // namespace timeloom::python
