#include "python/observe/engines/dask_tasks.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/engines/engine_regions.hpp"
#include "python/observe/engines/dask_clients.hpp"
#include "python/observe/engines/engine_arguments.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/engines/tell_engine.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

constexpr std::size_t kMostArrivals = 1 << 20;  // tasks that are at a worker and wait
constexpr Py_ssize_t kMostNeeds = 10'000;       // of a task

// When a task came to this worker, and when its values were there: 0, not known.
struct Arrival {
  std::uint64_t came = 0;
  std::uint64_t ready = 0;
};

// Of tasks that have not started. The event loop writes it, the threads of the worker take from it.
class Arrivals {
 public:
  // The scheduler may ask twice for a task that waits: the first time counts.
  void came(std::string key) {
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= kMostArrivals) return;
    waiting_.try_emplace(std::move(key), Arrival{record::monotonic_ns(), 0});
  }
  void ready(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = waiting_.find(key);
    if (found != waiting_.end()) found->second.ready = record::monotonic_ns();
  }
  std::optional<Arrival> take(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return {};
    const Arrival arrival = found->second;
    waiting_.erase(found);
    return arrival;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, Arrival> waiting_;
};

Arrivals& arrivals() {
  static auto* const kArrivals = new Arrivals;  // threads of the worker may outlive all else
  return *kArrivals;
}

// The engine's own rule. Empty: it has none, or it fails for this key.
std::string prefix_of_key(PyObject* key) {
  PyObject* const utilities = PyDict_GetItemString(PyImport_GetModuleDict(), "dask.utils");
  if (utilities == nullptr) return {};
  const Ref prefix(PyObject_CallMethod(utilities, "key_split", "(O)", key));
  if (!prefix) PyErr_Clear();
  return prefix && PyUnicode_Check(prefix.get()) ? utf8_text(prefix.get()) : std::string();
}

// The keys of `data`, which has the values that the task takes. A profile has no place for them.
std::vector<std::string> needs_of(InterpreterFrame* frame) {
  std::vector<std::string> needs;
  if (record::t_recorder->aggregates()) return needs;
  PyObject* const data = argument_named(frame, "data");
  if (data == nullptr || !PyDict_CheckExact(data)) return needs;
  const Ref keys(PyDict_Keys(data));
  if (!keys) PyErr_Clear();
  const Py_ssize_t count = keys ? std::min(PyList_GET_SIZE(keys.get()), kMostNeeds) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    needs.push_back(text_of_key(PyList_GET_ITEM(keys.get(), i)));
  }
  return needs;
}

struct DaskTask {
  std::string prefix, key;
  std::vector<std::string> needs;
};

// _run_task(task, data, execution_state, key, ...)
DaskTask task_of(InterpreterFrame* frame) {
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  PyObject* const argument = argument_named(frame, "key");
  if (argument == nullptr) return {};
  const Ref key = Ref::borrow(argument);
  DaskTask task{prefix_of_key(key.get()), text_of_key(key.get()), needs_of(frame)};
  if (task.prefix.empty()) task.prefix = task.key;
  return task;
}

// Nanoseconds; `fetched` is 0 where it is not known.
struct Times {
  std::uint64_t queued = 0;
  std::uint64_t fetched = 0;
};
Times times_of(const Arrival& arrival) {
  const std::uint64_t now = record::monotonic_ns();
  const bool is_known = arrival.ready > arrival.came;
  return {now - std::min(now, arrival.came), is_known ? arrival.ready - arrival.came : 0};
}

void put_times(const Arrival& arrival) {
  const Times times = times_of(arrival);
  put_task_queued(times.queued);
  if (times.fetched > 0) put_task_number(kFetchedParameter, times.fetched);
}

void on_task(InterpreterFrame* frame, bool recorded) noexcept try {
  if (!record::recording()) return;
  const DaskTask task = task_of(frame);
  if (task.prefix.empty() || looks_for_mark(task.key)) return;
  const std::optional<Arrival> arrival = arrivals().take(task.key);
  if (take_other_task(task.key) || runs_other_actor(frame)) {
    enter_in_call(frame, recorded, other_task_word());
    return hide_functions_of_task();
  }
  enter_in_call(frame, recorded, task_word(kDaskGroup, task.prefix));
  if (arrival) put_times(*arrival);
  put_task_key(task.key);
  for (const std::string& need : task.needs) put_task_need(need);
} catch (const std::exception&) {
  return;  // out of memory: the task is not named
}

// An attribute of the object that is the argument of a method, as str(); empty: it has none.
std::string attribute_in(InterpreterFrame* frame, const char* name) {
  PyObject* const object = argument_of(frame, 1);
  if (object == nullptr) return {};
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  const Ref value(PyObject_GetAttrString(object, name));
  if (!value) PyErr_Clear();
  return value ? text_of_key(value.get()) : std::string();
}

std::string key_in(InterpreterFrame* frame) { return attribute_in(frame, "key"); }

// An event without annotations is of an unknown version: nothing is known.
void note_client(InterpreterFrame* frame, const std::string& key) {
  if (!hides_other_tasks()) return;
  PyObject* const event = argument_of(frame, 1);
  if (event == nullptr) return;
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  const Ref annotations(PyObject_GetAttrString(event, "annotations"));
  const Ref actor(PyObject_GetAttrString(event, "actor"));
  PyErr_Clear();
  if (annotations) note_client_of_task(key, annotations.get(), actor && actor.get() == Py_True);
}

// Once in a measurement, so that each has the notes on functions that are not recognised. The
// process has imported the worker's modules by now.
void take_coroutines() noexcept {
  static std::atomic<std::uint32_t> taken_in = 0;
  if (!record::active()) return;
  const std::uint32_t now = record::measurement_number();
  if (taken_in.exchange(now) == now) return;
  tell_engine("timeloom._engines._dask_tasks", "take_coroutines", nullptr);
}

// WorkerState._handle_compute_task(self, event)
void on_arrival(InterpreterFrame* frame, bool) noexcept try {
  take_coroutines();
  std::string key = key_in(frame);
  if (key.empty()) return;
  note_client(frame, key);
  if (record::recording()) arrivals().came(std::move(key));
} catch (const std::exception&) {
  return;  // its time in the queue is not known
}

// WorkerState._transition_waiting_ready(self, task, *, stimulus_id); for tasks that need resources,
// _transition_waiting_constrained with the same arguments.
void on_ready(InterpreterFrame* frame, bool) noexcept try {
  if (!record::recording()) return;
  arrivals().ready(key_in(frame));
} catch (const std::exception&) {
  return;
}

// WorkerState._purge_state(self, task): it does not run here, or has run without _run_task in
// another process. From some states it comes between the arrival of a task and its wait.
void on_purge(InterpreterFrame* frame, bool) noexcept try {
  const std::string state = attribute_in(frame, "state");
  if (state == "fetch" || state == "missing" || state == "error") return;
  const std::string key = key_in(frame);
  (void)arrivals().take(key);
  forget_client_of_task(key);
} catch (const std::exception&) {
  return;
}

// dask_times(key): the nanoseconds that the task has waited at this worker, and the part of them
// until its values were there, or None.
PyObject* dask_times(PyObject*, PyObject* key) {
  if (!PyUnicode_Check(key)) Py_RETURN_NONE;
  try {
    const std::optional<Arrival> arrival = arrivals().take(utf8_text(key));
    if (!arrival) Py_RETURN_NONE;
    const Times times = times_of(*arrival);
    return Py_BuildValue("KK", static_cast<unsigned long long>(times.queued),
                         static_cast<unsigned long long>(times.fetched));
  } catch (const std::exception&) {
    return PyErr_NoMemory();
  }
}

// note_unknown_engine(part, text): see kUnknownEngine.
PyObject* note_unknown_engine(PyObject*, PyObject* arguments) {
  const char *part = nullptr, *text = nullptr;
  if (!PyArg_ParseTuple(arguments, "ss", &part, &text)) return nullptr;
  try {
    record::note_property(std::string(kUnknownEngine) + "_" + part, text);
    Py_RETURN_NONE;
  } catch (const std::exception&) {
    return PyErr_NoMemory();
  }
}

PyMethodDef kDaskMethods[] = {
    {"note_unknown_engine", note_unknown_engine, METH_VARARGS,
     "Tells of tasks or transfers that are not recognised."},
    {"dask_times", dask_times, METH_O, "The time of a task at this worker."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int add_dask_functions(PyObject* module) {
  if (PyModule_AddIntConstant(module, "MOST_DASK_NEEDS", kMostNeeds) < 0) return -1;
  return PyModule_AddFunctions(module, kDaskMethods);
}

namespace {

// Functions of the scheduler that call each other: the outermost one is the region.
void on_scheduler(InterpreterFrame* frame, bool recorded) noexcept try {
  if (!record::recording()) return;
  static const EventWord kWord = scheduler_word(kDaskGroup, kDaskSchedule);
  const auto is_open = [](const record::OpenRegion& open) { return open.enter == kWord; };
  if (std::ranges::any_of(record::t_recorder->open_regions(), is_open)) return;
  enter_in_call(frame, recorded, kWord);
} catch (const std::exception&) {
  return;
}

// Client.__init__(self, ...)
void on_client(InterpreterFrame*, bool) noexcept {
  if (record::active()) tell_engine("timeloom._engines._dask_marks", "mark_own_tasks", nullptr);
}

// WorkerState._handle_acquire_replicas(self, event): a worker without tasks may fetch values.
void on_replicas(InterpreterFrame*, bool) noexcept { take_coroutines(); }

}  // namespace

void watch_dask() {
  watch_function("distributed.worker._run_task", on_task);
  watch_function("distributed.worker.apply_function", on_task);  // versions before 2024.12
  watch_function("distributed.worker._run_actor", on_task);
  const std::string state = "distributed.worker_state_machine.WorkerState.";
  watch_function("distributed.client.Client.__init__", on_client);
  watch_function(state + "_handle_compute_task", on_arrival);
  watch_function(state + "_handle_acquire_replicas", on_replicas);
  const std::string scheduler = "distributed.scheduler.";
  for (const char* const name :
       {"SchedulerState._transitions", "Scheduler.transitions", "Scheduler.handle_task_finished",
        "Scheduler.handle_task_erred", "Scheduler._create_taskstate_from_graph",
        "Scheduler.stimulus_queue_slots_maybe_opened"}) {
    watch_function(scheduler + name, on_scheduler);
  }
  watch_function(state + "_transition_waiting_ready", on_ready);
  watch_function(state + "_transition_waiting_constrained", on_ready);
  watch_function(state + "_purge_state", on_purge);
}

}  // namespace timeloom::python
