#include "python/observe/engines/engine_tasks.hpp"

#include <time.h>

#include <string>

#include "core/engines/engine_regions.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/engines/celery_tasks.hpp"
#include "python/observe/engines/dask_tasks.hpp"
#include "python/observe/engines/engine_arguments.hpp"
#include "python/observe/engines/loader_tasks.hpp"
#include "python/observe/engines/spark_tasks.hpp"
#include "python/observe/engines/spark_times.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/engines/tell_engine.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/region_style.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// The attribute with the time at which the program has handed a call to a pool.
constexpr char kSubmitted[] = "_timeloom_submitted";

void on_transfer(InterpreterFrame* frame, bool recorded, const char* engine,
                 const char* name) noexcept try {
  if (!record::recording()) return;
  enter_in_call(frame, recorded, transfer_word(engine, name));
} catch (const std::exception&) {
  return;
}

void on_spill(InterpreterFrame* frame, bool recorded) noexcept {
  on_transfer(frame, recorded, kDaskGroup, kDaskSpill);
}
void on_unspill(InterpreterFrame* frame, bool recorded) noexcept {
  on_transfer(frame, recorded, kDaskGroup, kDaskUnspill);
}
void on_ray_put(InterpreterFrame* frame, bool recorded) noexcept {
  on_transfer(frame, recorded, kRayGroup, "ray.put");
}
void on_ray_get(InterpreterFrame* frame, bool recorded) noexcept {
  on_transfer(frame, recorded, kRayGroup, "ray.get");
}
void on_ray_wait(InterpreterFrame* frame, bool recorded) noexcept {
  on_transfer(frame, recorded, kRayGroup, "ray.wait");
}
void on_ray_serialize(InterpreterFrame* frame, bool recorded) noexcept {
  on_transfer(frame, recorded, kRayGroup, "serialize");
}
void on_ray_deserialize(InterpreterFrame* frame, bool recorded) noexcept {
  on_transfer(frame, recorded, kRayGroup, "deserialize");
}

// The function that puts a task_call() in the place of each function that is to run.
void tell_pools(const char* function, PyObject* argument) noexcept {
  if (argument != nullptr) tell_engine("timeloom._engines._pools", function, argument);
}

// From 3.14 on, a task is run with a context: of another interpreter, it is not run here.
bool runs_here(InterpreterFrame* frame) noexcept {
  if (code_of(frame)->co_argcount < 2) return true;
  PyObject* const context = argument_of(frame, 1);
  if (context == nullptr) return false;
  const ErrorGuard guard;
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(context));
  const Ref module(PyObject_GetAttrString(type, "__module__"));
  if (!module) PyErr_Clear();
  return module && PyUnicode_Check(module.get()) &&
         PyUnicode_CompareWithASCIIString(module.get(), "concurrent.futures.thread") == 0;
}

void on_thread_task(InterpreterFrame* frame, bool) noexcept {
  if (runs_here(frame)) tell_pools("take_thread_task", argument_of(frame, 0));
}
// _WorkItem(future, ...), or ApplyResult(...). In C alone: a handler of a signal that ran in here
// could not raise an exception. An item of loky has no place for the time, but its future has.
void on_submission(InterpreterFrame* frame, bool) noexcept {
  PyObject* const item = argument_of(frame, 0);
  if (item == nullptr || &region_style() != &kTimeloomNames) return;
  const ErrorGuard guard;
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const Ref now(PyLong_FromLongLong(time.tv_sec * 1'000'000'000LL + time.tv_nsec));
  for (PyObject* const holder : {item, argument_of(frame, 1)}) {
    if (now && holder != nullptr && PyObject_SetAttrString(holder, kSubmitted, now.get()) == 0)
      return;
    PyErr_Clear();
  }
}
// _CallItem(work_id, ...), on a thread of the pool.
void on_item_of_process(InterpreterFrame* frame, bool) noexcept {
  tell_pools("carry_time", argument_of(frame, 0));
}
void on_call_queue(InterpreterFrame* frame, bool) noexcept {
  tell_pools("watch_call_queue", argument_of(frame, 0));
}
void on_pool_queue(InterpreterFrame* frame, bool) noexcept {
  tell_pools("watch_pool_queue", argument_of(frame, 0));
}
void on_pool(InterpreterFrame* frame, bool) noexcept {
  tell_pools("carry_times", argument_of(frame, 0));
}
// Process(ctx, *args, **kwds)
void on_thread_of_pool(InterpreterFrame* frame, bool) noexcept {
  const PyCodeObject* const code = code_of(frame);
  tell_pools("watch_thread_pool",
             argument_of(frame, code->co_argcount + code->co_kwonlyargcount + 1));
}
void on_ray_functions(InterpreterFrame* frame, bool) noexcept {
  tell_pools("watch_ray_functions", argument_of(frame, 0));
}
// The process is about to join a cluster, and may ask for tasks from then on.
void on_ray_connect(InterpreterFrame*, bool) noexcept {
  tell_engine("timeloom._engines._ray", "watch_submissions", nullptr);
}
// _prepare_for_python_RDD(sc, command): of functions of RDDs, UDFs and the like.
void on_spark_function(InterpreterFrame* frame, bool) noexcept {
  PyObject* const context = argument_of(frame, 0);
  if (context == nullptr) return;
  tell_engine("timeloom._engines._spark_workers", "tell_workers", context);
}
void on_loky_task(InterpreterFrame* frame, bool) noexcept {
  tell_pools("take_loky_task", argument_of(frame, 0));
}
void on_joblib_batch(InterpreterFrame* frame, bool) noexcept {
  tell_pools("take_batch", argument_of(frame, 0));
}

}  // namespace

void watch_engines() {
  watch_dask();
  watch_celery();
  watch_function("concurrent.futures.thread._WorkItem.__init__", on_submission);
  watch_function("concurrent.futures.thread._WorkItem.run", on_thread_task);
  for (const std::string pool : {"concurrent.futures.process.", "loky.process_executor.",
                                 "joblib.externals.loky.process_executor."}) {
    watch_function(pool + "_WorkItem.__init__", on_submission);
    watch_function(pool + "_CallItem.__init__", on_item_of_process);
  }
  watch_function("concurrent.futures.process._process_worker", on_call_queue);
  watch_function("multiprocessing.pool.Pool._repopulate_pool", on_pool);
  watch_function("multiprocessing.pool.ApplyResult.__init__", on_submission);
  watch_function("multiprocessing.pool.worker", on_pool_queue);
  watch_function("multiprocessing.pool.ThreadPool.Process", on_thread_of_pool);
  watch_function("loky.process_executor._CallItem.__call__", on_loky_task);
  watch_function("joblib.externals.loky.process_executor._CallItem.__call__", on_loky_task);
  watch_function("joblib.parallel.BatchedCalls.__call__", on_joblib_batch);
  watch_function("ray._private.function_manager.FunctionActorManager.get_execution_info",
                 on_ray_functions);
  watch_function("ray._private.worker.connect", on_ray_connect);
  watch_function("ray._private.worker.put", on_ray_put);
  watch_function("ray._private.worker.get", on_ray_get);
  watch_function("ray._private.worker.wait", on_ray_wait);
  watch_function("ray._private.serialization.SerializationContext.serialize", on_ray_serialize);
  watch_function("ray._private.serialization.SerializationContext.deserialize_objects",
                 on_ray_deserialize);
  for (const std::string module : {"pyspark.core.rdd", "pyspark.rdd"}) {  // from 4.0 on, and before
    watch_function(module + "._prepare_for_python_RDD", on_spark_function);
  }
  watch_spark();
  watch_spark_stop();
  watch_data_loader();
  watch_function("distributed.spill.Slow.__setitem__", on_spill);
  watch_function("distributed.spill.Slow.__getitem__", on_unspill);
}

}  // namespace timeloom::python
