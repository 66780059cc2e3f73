#include "python/observe/engines/spark_tasks.hpp"

#include <exception>
#include <string>

#include "core/engines/engine_regions.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/engine_functions.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct SparkTask {
  std::string prefix, id;
  unsigned long long stage = 0, partition = 0, attempt = 0;
};

// Borrowed; null: the function has no such variable in its closure, or none yet.
PyObject* closure_variable(PyFunctionObject* function, const char* name) noexcept {
  if (function == nullptr || function->func_closure == nullptr) return nullptr;
  const auto* const code = reinterpret_cast<PyCodeObject*>(function->func_code);
  const int first = code->co_nlocalsplus - code->co_nfreevars;
  for (int i = 0; i < code->co_nfreevars; ++i) {
    if (!is_text(PyTuple_GET_ITEM(code->co_localsplusnames, first + i), name)) continue;
    PyObject* const cell = PyTuple_GET_ITEM(function->func_closure, i);
    return PyCell_Check(cell) ? PyCell_GET(cell) : nullptr;
  }
  return nullptr;
}

// Without a prefix: it is not a task, or pyspark is of an unknown version.
SparkTask spark_task(InterpreterFrame* frame) {
  PyObject* const called = closure_variable(function_of(frame), "func");
  if (called == nullptr) return {};
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  const Ref kept = Ref::borrow(called);
  const Ref module(PyImport_ImportModule("timeloom._engines._spark"));
  const Ref facts(module ? PyObject_CallMethod(module.get(), "task_of", "O", called) : nullptr);
  const char *prefix = nullptr, *id = nullptr;
  SparkTask task;
  if (!facts || PyArg_ParseTuple(facts.get(), "ssKKK", &prefix, &id, &task.stage, &task.partition,
                                 &task.attempt) == 0) {
    PyErr_Clear();
    return {};
  }
  task.prefix = prefix;
  task.id = id;
  return task;
}

// process() of pyspark's worker, which has the function of the task in its closure.
void on_spark_task(InterpreterFrame* frame, bool recorded) noexcept try {
  if (!record::recording()) return;
  const SparkTask task = spark_task(frame);
  if (task.prefix.empty()) return;
  enter_in_call(frame, recorded, task_word(kSparkGroup, task.prefix));
  put_task_number(kStageParameter, task.stage);
  put_task_number(kPartitionParameter, task.partition);
  put_task_number(kAttemptParameter, task.attempt);
  put_task_key(task.id);
} catch (const std::exception&) {
  return;  // out of memory: the task is not named
}

}  // namespace

void watch_spark() {
  if (!is_spark_worker()) return;
  for (const char* const module : {"pyspark.worker", "__main__"}) {
    for (const char* const outer : {"invoke_udf", "main"}) {  // from 4.3 on, and before
      for (const char* const inner : {"process", "pipelined_process"}) {
        watch_function(std::string(module) + "." + outer + ".<locals>." + inner, on_spark_task);
      }
    }
  }
}

}  // namespace timeloom::python
