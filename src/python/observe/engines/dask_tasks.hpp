// Tasks of Dask in its workers: a region for each run of a task, with its key, the keys of the
// tasks whose values it takes, and the time that it has spent at the worker before its start. Needs
// the GIL; throws std::bad_alloc.
#pragma once

#include <Python.h>

namespace timeloom::python {

// As watch_engines(), which calls it.
void watch_dask();

// Adds the functions for _engines/_dask_tasks.py to the module, dask_times() and
// note_unknown_engine(), and the number MOST_DASK_NEEDS; -1 on failure.
int add_dask_functions(PyObject* module);

}  // namespace timeloom::python
