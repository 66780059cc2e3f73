#include "python/observe/engines/spark_times.hpp"

#include <time.h>

#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include "core/engines/engine_regions.hpp"
#include "python/api/user_region.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/region_style.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// Profiles have no place for keys of tasks, nor have the runs of other tools.
bool notes_times() noexcept {
  return record::active() && record::recording() && &region_style() == &kTimeloomNames &&
         record::t_recorder != nullptr && !record::t_recorder->aggregates();
}

// The clock of Spark's times.
std::uint64_t time_of_day_ns() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// The result of a function of timeloom._engines._spark_times; null: it has failed.
Ref ask(const char* function, PyObject* argument) {
  const Ref module(PyImport_ImportModule("timeloom._engines._spark_times"));
  const Ref called(module ? PyObject_GetAttrString(module.get(), function) : nullptr);
  Ref result(called ? PyObject_CallFunctionObjArgs(called.get(), argument, nullptr) : nullptr);
  if (result) return result;
  const bool interrupted = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
  PyErr_Clear();
  if (interrupted) PyErr_SetInterrupt();
  return result;
}

// The SparkContext of this process; null: there is none that could answer.
Ref context_of_spark() {
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  Ref found = ask("context", nullptr);
  return found && found.get() != Py_None ? std::move(found) : Ref();
}

Ref times_of_spark(PyObject* context) {
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  Ref times = ask("times_of_tasks", context);
  return times && PyList_CheckExact(times.get()) ? std::move(times) : Ref();
}

// `times`: a list of (id, ready, sent), in nanoseconds of the time of day; `now`: the start of the
// region in which they are put. A task that was sent later than that is left out.
void put_times(PyObject* times, std::uint64_t now) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(times); ++i) {
    const char* id = nullptr;
    unsigned long long ready = 0, sent = 0;
    if (PyArg_ParseTuple(PyList_GET_ITEM(times, i), "sKK", &id, &ready, &sent) == 0) {
      PyErr_Clear();
      continue;
    }
    if (ready > sent || sent > now) continue;
    put_submitted(id);
    put_task_number(kReadyBeforeParameter, now - ready);
    put_task_number(kSentBeforeParameter, now - sent);
  }
}

void put_times_of(PyObject* context) {
  const EventWord word = transfer_word(kSparkGroup, kSparkTimes);
  const std::uint64_t now = time_of_day_ns();
  enter_user_region(word);
  if (const Ref times = times_of_spark(context); times && notes_times())
    put_times(times.get(), now);
  if (record::active()) leave_own_user_region(word);
}

// SparkContext.stop(self)
void on_spark_stop(InterpreterFrame*, bool) noexcept { note_spark_times(); }

}  // namespace

void note_spark_times() noexcept try {
  if (PyDict_GetItemString(PyImport_GetModuleDict(), "pyspark") == nullptr || !notes_times())
    return;
  if (const Ref context = context_of_spark(); context) put_times_of(context.get());
} catch (const std::exception&) {
  return;  // out of memory: the times in the queue are not known
}

void watch_spark_stop() {
  if (is_spark_worker()) return;
  watch_function("pyspark.core.context.SparkContext.stop", on_spark_stop);  // from 4.0 on
  watch_function("pyspark.context.SparkContext.stop", on_spark_stop);
}

}  // namespace timeloom::python
