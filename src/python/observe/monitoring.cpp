// Instrumenter "monitoring": sys.monitoring (PEP 669), Python 3.12 and later.
//
// A code object that is excluded returns DISABLE from each of its places once
// and costs nothing afterwards.
#include "python/observe/budget.hpp"
#include "python/observe/code_regions.hpp"
#include "python/observe/instrumenter.hpp"
#include "python/observe/monitoring_tool.hpp"
#include "python/observe/tasks.hpp"
#include "python/observe/watched.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {
namespace {

PyCodeObject* code_argument(PyObject* const* arguments) noexcept {
  return reinterpret_cast<PyCodeObject*>(arguments[0]);
}

// None is immortal where sys.monitoring exists.
PyObject* none() noexcept { return Py_None; }

[[gnu::noinline, gnu::cold]] PyObject* first_enter(PyCodeObject* code) noexcept {
  EventWord word = known_word(code);
  if (word == 0) word = decide_word(code, PyEval_GetGlobals());
  if (word == kWatched) return enter_watched(code, current_frame(PyThreadState_Get())), none();
  if (!is_region(word)) return Py_NewRef(g_disable);
  enter_code(code, word);
  return none();
}

// The clock is read first in these two: the counter waits for the instructions
// before it, and ours can run beside those of the interpreter that follow.

// PY_START, PY_RESUME
PyObject* on_enter(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  const std::uint64_t now = os::now();
  PyCodeObject* code = code_argument(arguments);
  EventWord word = 0;
  if (!ready_word(code, &word)) [[unlikely]]
    return first_enter(code);
  record::t_recorder->enter(token_of(code), word, now);
  return none();
}

[[gnu::noinline, gnu::cold]] PyObject* unexpected_leave(PyCodeObject* code) noexcept {
  if (is_excluded(known_word(code))) return Py_NewRef(g_disable);
  record::t_recorder->leave_outer(token_of(code));
  return none();
}

// PY_RETURN, PY_YIELD
PyObject* on_leave(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  const std::uint64_t now = os::now();
  PyCodeObject* code = code_argument(arguments);
  if (!record::t_recorder->leave_last(token_of(code), now)) [[unlikely]]
    return unexpected_leave(code);
  return none();
}

// PY_THROW and PY_UNWIND cannot be disabled for one place.
PyObject* on_throw(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  PyCodeObject* code = code_argument(arguments);
  EventWord word = known_word(code);
  if (word == 0) word = decide_word(code, PyEval_GetGlobals());
  if (word == kWatched) enter_watched(code, current_frame(PyThreadState_Get()));
  if (is_region(word)) enter_code(code, word);
  return none();
}

PyObject* on_unwind(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  PyCodeObject* code = code_argument(arguments);
  if (is_recorded(known_word(code))) record::t_recorder->leave(token_of(code));
  return none();
}

// Whether C functions that this code calls are recorded.
bool records_calls_of(PyCodeObject* code) noexcept {
  EventWord word = known_word(code);
  if (word == 0) word = decide_word(code, PyEval_GetGlobals());
  return calls_c_recorded(word);
}

// CALL: code, offset, callable, first argument
PyObject* on_call(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  PyMethodDef* method = c_function_of(arguments[2]);
  if (method != nullptr && records_calls_of(code_argument(arguments))) {
    enter_c_function(method, arguments[2]);
  }
  return none();
}

// C_RETURN, C_RAISE
PyObject* on_c_leave(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  PyMethodDef* method = c_function_of(arguments[2]);
  if (method != nullptr && records_calls_of(code_argument(arguments)))
    leave_c_function(method, arguments[2]);
  return none();
}

constexpr MonitoringEvent kEvents[] = {
    {"PY_START", on_enter, false, true},
    {"PY_RESUME", on_enter, false, true},
    {"PY_RETURN", on_leave, false, true},
    {"PY_YIELD", on_leave, false, true},
    {"PY_THROW", on_throw, false},
    {"PY_UNWIND", on_unwind, false},
    {"CALL", on_call, false},
    {"C_RETURN", on_c_leave, true},
    {"C_RAISE", on_c_leave, true},
};
constexpr std::size_t kPythonEvents = 6;  // the first ones; the others are of C functions

// The same where measuring may take a share of the CPU time only: some of the enters are samples.

// PY_START, PY_RESUME
PyObject* on_counted_enter(PyObject* self, PyObject* const* arguments, std::size_t count,
                           PyObject* names) noexcept {
  if (is_sample()) [[unlikely]]
    take_sample(code_argument(arguments));
  return on_enter(self, arguments, count, names);
}

constexpr MonitoringEvent kCountedEvents[] = {
    {"PY_START", on_counted_enter, false, true},
    {"PY_RESUME", on_counted_enter, false, true},
    {"PY_RETURN", on_leave, false, true},
    {"PY_YIELD", on_leave, false, true},
    {"PY_THROW", on_throw, false},
    {"PY_UNWIND", on_unwind, false},
};

// The same with tasks as tracks: a frame of an awaitable asks before its enter
// and leave. Such frames report even when a filter excludes them.

PyObject* task_enter(PyObject* const* arguments, bool starts) noexcept {
  PyCodeObject* code = code_argument(arguments);
  EventWord word = 0;
  if (!is_awaitable(code)) {
    if (!ready_word(code, &word)) return first_enter(code);
    record::t_recorder->enter(token_of(code), word);
    return none();
  }
  word = known_word(code);
  if (word == 0) word = decide_word(code, PyEval_GetGlobals());
  InterpreterFrame* frame = current_frame(PyThreadState_Get());
  const bool wanted = task_step_begins(generator_of(frame), outer_frame_of(frame), starts);
  if (wanted && word == kWatched) enter_watched(code, frame);
  if (wanted && is_region(word)) enter_code(code, word);
  return none();
}

PyObject* on_task_start(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  return task_enter(arguments, true);
}

// PY_RESUME
PyObject* on_task_resume(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  return task_enter(arguments, false);
}

// PY_THROW
PyObject* on_task_throw(PyObject* self, PyObject* const* arguments, std::size_t count,
                        PyObject* names) noexcept {
  if (!is_awaitable(code_argument(arguments))) return on_throw(self, arguments, count, names);
  return task_enter(arguments, false);
}

PyObject* task_leave(PyCodeObject* code) noexcept {
  if (!is_awaitable(code)) {
    return record::t_recorder->leave_last(token_of(code)) ? none() : unexpected_leave(code);
  }
  record::t_recorder->leave(token_of(code));
  task_step_ends(generator_of(current_frame(PyThreadState_Get())));
  return none();
}

// PY_RETURN
PyObject* on_task_return(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  return task_leave(code_argument(arguments));
}

// PY_UNWIND
PyObject* on_task_unwind(PyObject* self, PyObject* const* arguments, std::size_t count,
                         PyObject* names) noexcept {
  PyCodeObject* code = code_argument(arguments);
  return is_awaitable(code) ? task_leave(code) : on_unwind(self, arguments, count, names);
}

// PY_YIELD: code, offset, value
PyObject* on_task_yield(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  PyCodeObject* code = code_argument(arguments);
  if (is_awaitable(code)) {
    InterpreterFrame* frame = current_frame(PyThreadState_Get());
    if (!task_step_yields(generator_of(frame), outer_frame_of(frame), arguments[2])) return none();
  }
  return task_leave(code);
}

constexpr MonitoringEvent kTaskEvents[] = {
    {"PY_START", on_task_start, false, true},
    {"PY_RESUME", on_task_resume, false, true},
    {"PY_RETURN", on_task_return, false, true},
    {"PY_YIELD", on_task_yield, false, true},
    {"PY_THROW", on_task_throw, false},
    {"PY_UNWIND", on_task_unwind, false},
    {"CALL", on_call, false},
    {"C_RETURN", on_c_leave, true},
    {"C_RAISE", on_c_leave, true},
};

bool g_tasks = false;

bool install(const InstrumentOptions& what) {
  if (what.budget) return subscribe(kCountedEvents);
  const std::span all = what.tasks ? std::span(kTaskEvents) : std::span(kEvents);
  g_tasks = what.tasks;
  if (g_tasks) begin_tasks(what.lanes);
  return subscribe(what.c_functions ? all : all.first(kPythonEvents));
}

void uninstall() {
  unsubscribe();
  if (g_tasks) pause_tasks();
}

}  // namespace

// It executes about as much code of the interpreter as of ours.
const Instrumenter kMonitoring{.name = "monitoring",
                               .can = {.c_functions = true, .tasks = true, .budget = true},
                               .reports_every_leave = true,
                               .install = install,
                               .uninstall = uninstall,
                               .interpreter_part = 1};

}  // namespace timeloom::python
