// Tasks of engines that run Python functions in workers: Dask's distributed, Celery, Ray, Spark,
// and the pools of Python's library, joblib and loky.
//
// Each run of a task is a region on the thread that runs it, named by the prefix of its key ("inc"
// for "inc-6fb3a1"), as on Dask's dashboard; the key is a parameter of it. The engine calls one
// function of its own for a task, which is watched for this (watched.hpp), so that programs without
// the engine pay nothing. Of Dask, only functions that are coroutines are replaced
// (coroutine_task.hpp). Spilling and transfers are regions as well.
#pragma once

namespace timeloom::python {

// Before the first code object is seen. Needs the GIL. Throws std::bad_alloc.
void watch_engines();

}  // namespace timeloom::python
