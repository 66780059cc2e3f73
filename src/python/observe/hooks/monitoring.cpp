// Instrumenter "monitoring": sys.monitoring (PEP 669), Python 3.12 and later.
//
// A code object that is excluded returns DISABLE from each of its places once
// and costs nothing afterwards.
#include "os/clock.hpp"
#include "python/observe/cost/budget.hpp"
#include "python/observe/hooks/c_functions.hpp"
#include "python/observe/hooks/event_code.hpp"
#include "python/observe/hooks/instrumenter.hpp"
#include "python/observe/hooks/monitoring_tool.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/watched.hpp"
#include "python/observe/tasks/tasks.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {
namespace {

// None is immortal where sys.monitoring exists.
PyObject* none_object() noexcept { return Py_None; }

EventWord decided_word(PyCodeObject* code) noexcept {
  const EventWord word = known_word(code);
  return word == 0 ? decide_word(code, globals_of_event(code)) : word;
}

[[gnu::noinline, gnu::cold]] PyObject* first_enter(PyCodeObject* code) noexcept {
  const EventWord word = decided_word(code);
  if (word == kWatched) return enter_watched(code, frame_of_event(code)), none_object();
  if (!is_region(word)) return Py_NewRef(g_disable);
  enter_code(code, word);
  return none_object();
}

// The clock is read first in these two: the counter waits for the instructions
// before it, and Timeloom's can run beside the interpreter's that follow. Which clock it is, is
// decided when they are installed.
using Clock = std::uint64_t (*)() noexcept;

// PY_START, PY_RESUME
template <Clock kClock>
PyObject* on_enter(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  const std::uint64_t now = kClock();
  if (!is_of_code(arguments)) [[unlikely]]
    return leave_out_event();
  PyCodeObject* code = code_argument(arguments);
  EventWord word = 0;
  if (!ready_word(code, &word)) [[unlikely]]
    return first_enter(code);
  record::t_recorder->enter(token_of(code), word, now);
  return none_object();
}

// Only here it is asked whether there is a code object: others are never open.
[[gnu::noinline, gnu::cold]] PyObject* unexpected_leave(PyObject* const* arguments) noexcept {
  if (!is_of_code(arguments)) return leave_out_event();
  PyCodeObject* code = code_argument(arguments);
  if (is_excluded(known_word(code))) return Py_NewRef(g_disable);
  record::t_recorder->leave_outer(token_of(code));
  return none_object();
}

// PY_RETURN, PY_YIELD
template <Clock kClock>
PyObject* on_monitoring_leave(PyObject*, PyObject* const* arguments, std::size_t,
                              PyObject*) noexcept {
  const std::uint64_t now = kClock();
  PyCodeObject* code = code_argument(arguments);
  if (!record::t_recorder->leave_last(token_of(code), now)) [[unlikely]]
    return unexpected_leave(arguments);
  return none_object();
}

// PY_THROW and PY_UNWIND cannot be disabled for one place.
PyObject* on_throw(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  if (!is_of_code(arguments)) return leave_out_event();
  PyCodeObject* code = code_argument(arguments);
  const EventWord word = decided_word(code);
  if (word == kWatched) enter_watched(code, frame_of_event(code));
  if (is_region(word)) enter_code(code, word);
  return none_object();
}

PyObject* on_monitoring_unwind(PyObject*, PyObject* const* arguments, std::size_t,
                               PyObject*) noexcept {
  if (!is_of_code(arguments)) return leave_out_event();
  PyCodeObject* code = code_argument(arguments);
  if (is_recorded(known_word(code))) record::t_recorder->leave(token_of(code));
  return none_object();
}

// Whether C functions that this code calls are recorded.
bool monitoring_records_calls_of(PyCodeObject* code) noexcept {
  return calls_c_recorded(decided_word(code));
}

// CALL of any object by any code.
[[gnu::noinline]] PyObject* other_call(PyObject* const* arguments) noexcept {
  if (!is_of_code(arguments)) return leave_out_event();
  if (PyFunction_Check(arguments[2])) return none_object();
  PyObject* callable = function_of_method(arguments[2]);
  PyMethodDef* method = c_function_of(callable);
  PyCodeObject* code = code_argument(arguments);
  if (method != nullptr && monitoring_records_calls_of(code) && is_reported_whole(arguments)) {
    enter_c_function(method, callable, code);
  }
  return none_object();
}

// CALL: code, offset, callable, first argument. Where the innermost region is the caller's, it is
// a code object whose C functions are recorded, and none that it has called is open.
template <Clock kClock>
PyObject* on_monitoring_call(PyObject*, PyObject* const* arguments, std::size_t,
                             PyObject*) noexcept {
  PyMethodDef* const method = plain_c_function(arguments[2]);
  EventWord word = 0;
  if (method == nullptr || record::t_recorder->innermost() != token_of(code_argument(arguments)) ||
      !ready_c_function(method, &word)) {
    return other_call(arguments);
  }
  if (is_region(word)) record::t_recorder->enter(token_of_method(method), word, kClock());
  return none_object();
}

// C_RETURN or C_RAISE of any object in any code.
[[gnu::noinline]] PyObject* other_c_leave(PyObject* const* arguments) noexcept {
  if (!is_of_code(arguments)) return leave_out_event();
  PyObject* callable = function_of_method(arguments[2]);
  PyMethodDef* method = c_function_of(callable);
  if (method != nullptr && monitoring_records_calls_of(code_argument(arguments)))
    leave_c_function(method, callable);
  return none_object();
}

// C_RETURN, C_RAISE. Code whose C functions are not recorded may call a function that is open
// further out; so it is asked whether the caller is.
template <Clock kClock>
PyObject* on_c_leave(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  const std::uint64_t now = kClock();
  PyMethodDef* const method = plain_c_function(arguments[2]);
  if (method == nullptr || !record::t_recorder->innermost_are(token_of_method(method),
                                                              token_of(code_argument(arguments)))) {
    return other_c_leave(arguments);
  }
  (void)record::t_recorder->leave_last(token_of_method(method), now);
  return none_object();
}

template <Clock kClock>
constexpr MonitoringEvent kEvents[] = {
    {"PY_START", on_enter<kClock>, false, true},
    {"PY_RESUME", call_of_resume<on_enter<kClock>>, false, true},
    {"PY_RETURN", on_monitoring_leave<kClock>, false, true},
    {"PY_YIELD", on_monitoring_leave<kClock>, false, true},
    {"PY_THROW", on_throw, false},
    {"PY_UNWIND", on_monitoring_unwind, false},
    {"CALL", on_monitoring_call<kClock>, false},
    {"C_RETURN", on_c_leave<kClock>, true},
    {"C_RAISE", on_c_leave<kClock>, true},
};
constexpr std::size_t kPythonEvents = 6;  // the first ones; the others are of C functions

// The same where measuring may take a share of the CPU time only: some of the enters are samples.

// PY_START, PY_RESUME
PyObject* on_counted_enter(PyObject* self, PyObject* const* arguments, std::size_t count,
                           PyObject* names) noexcept {
  if (is_sample() && is_of_code(arguments)) [[unlikely]]
    take_sample(code_argument(arguments));
  return on_enter<os::now>(self, arguments, count, names);
}

constexpr MonitoringEvent kCountedEvents[] = {
    {"PY_START", on_counted_enter, false, true},
    {"PY_RESUME", call_of_resume<on_counted_enter>, false, true},
    {"PY_RETURN", on_monitoring_leave<os::now>, false, true},
    {"PY_YIELD", on_monitoring_leave<os::now>, false, true},
    {"PY_THROW", on_throw, false},
    {"PY_UNWIND", on_monitoring_unwind, false},
};

// Whether a step of an awaitable begins or ends. Awaitables without a frame (Cython) are not tasks.
bool is_step(PyCodeObject* code) noexcept {
  return is_awaitable(code) && frame_of_event(code) != nullptr;
}

// The same with tasks as tracks: a frame of an awaitable asks before its enter
// and leave. Such frames report even when a filter excludes them.

PyObject* task_enter(PyObject* const* arguments, bool starts) noexcept {
  if (!is_of_code(arguments)) return leave_out_event();
  PyCodeObject* code = code_argument(arguments);
  EventWord word = 0;
  if (!is_step(code)) {
    if (!ready_word(code, &word)) return first_enter(code);
    record::t_recorder->enter(token_of(code), word);
    return none_object();
  }
  word = decided_word(code);
  InterpreterFrame* frame = current_frame(PyThreadState_Get());
  const bool wanted = task_step_begins(generator_of(frame), outer_frame_of(frame), starts);
  if (wanted && word == kWatched) enter_watched(code, frame);
  if (wanted && is_region(word)) enter_code(code, word);
  return none_object();
}

PyObject* on_task_start(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  return task_enter(arguments, true);
}

// PY_RESUME
PyObject* on_task_resume(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  return task_enter(arguments, false);
}

// PY_THROW. A coroutine that is closed before it begins is not a task.
PyObject* on_task_throw(PyObject* self, PyObject* const* arguments, std::size_t count,
                        PyObject* names) noexcept {
  const bool step = is_of_code(arguments) && is_step(code_argument(arguments)) &&
                    !runs_first(frame_of_event(code_argument(arguments)));
  return step ? task_enter(arguments, false) : on_throw(self, arguments, count, names);
}

PyObject* task_leave(PyObject* const* arguments) noexcept {
  PyCodeObject* code = code_argument(arguments);
  if (!is_of_code(arguments) || !is_step(code)) {
    return record::t_recorder->leave_last(token_of(code)) ? none_object()
                                                          : unexpected_leave(arguments);
  }
  record::t_recorder->leave(token_of(code));
  task_step_ends(generator_of(current_frame(PyThreadState_Get())));
  return none_object();
}

// PY_RETURN
PyObject* on_task_return(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  return task_leave(arguments);
}

// PY_UNWIND
PyObject* on_task_unwind(PyObject* self, PyObject* const* arguments, std::size_t count,
                         PyObject* names) noexcept {
  const bool step = is_of_code(arguments) && is_step(code_argument(arguments));
  return step ? task_leave(arguments) : on_monitoring_unwind(self, arguments, count, names);
}

// PY_YIELD: code, offset, value
PyObject* on_task_yield(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  if (is_of_code(arguments) && is_step(code_argument(arguments))) {
    InterpreterFrame* frame = current_frame(PyThreadState_Get());
    if (!task_step_yields(generator_of(frame), outer_frame_of(frame), arguments[2]))
      return none_object();
  }
  return task_leave(arguments);
}

constexpr MonitoringEvent kTaskEvents[] = {
    {"PY_START", on_task_start, false, true},
    {"PY_RESUME", call_of_resume<on_task_resume>, false, true},
    {"PY_RETURN", on_task_return, false, true},
    {"PY_YIELD", on_task_yield, false, true},
    {"PY_THROW", on_task_throw, false},
    {"PY_UNWIND", on_task_unwind, false},
    {"CALL", on_monitoring_call<os::now>, false},
    {"C_RETURN", on_c_leave<os::now>, true},
    {"C_RAISE", on_c_leave<os::now>, true},
};

bool g_monitoring_tasks = false;

bool install_monitoring(const InstrumentOptions& what) {
  if (what.budget) return subscribe(kCountedEvents);
  const bool has_counter = os::clock_source() != os::ClockSource::kMonotonic;
  const std::span plain =
      has_counter ? std::span(kEvents<os::counter>) : std::span(kEvents<os::now>);
  const std::span all = what.tasks ? std::span(kTaskEvents) : plain;
  g_monitoring_tasks = what.tasks;
  if (g_monitoring_tasks) begin_tasks(what.lanes);
  return subscribe(what.c_functions ? all : all.first(kPythonEvents));
}

void uninstall_monitoring() {
  unsubscribe();
  if (g_monitoring_tasks) pause_tasks();
}

}  // namespace

// It executes about as much code of the interpreter as of ours.
const Instrumenter kMonitoring{.name = "monitoring",
                               .can = {.c_functions = true, .tasks = true, .budget = true},
                               .reports_every_leave = true,
                               .install = install_monitoring,
                               .uninstall = uninstall_monitoring,
                               .interpreter_part = 1};

}  // namespace timeloom::python
