// Instrumenter "frame": a frame-evaluation hook (PEP 523).
//
// The cheapest hook there is, since one C function sees both ends of a call. A
// hook that somebody else installed before is called in place of the default.
#include <atomic>
#include <new>
#include <unordered_set>

#include "os/clock.hpp"
#include "python/interpreter/deep_stack.hpp"
#include "python/interpreter/frame_hook.hpp"
#include "python/observe/cost/budget.hpp"
#include "python/observe/cost/callback_times.hpp"
#include "python/observe/hooks/event_code.hpp"
#include "python/observe/hooks/instrumenter.hpp"
#include "python/observe/hooks/monitoring_tool.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/watched.hpp"
#include "python/observe/tasks/tasks.hpp"
#include "python/observe/threads/thread_names.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {
namespace {

constinit FrameHook g_frame_hook;
constinit std::atomic<bool> g_frame_tasks = false;  // are tracks
// False while paused: frames that are under way return here all the same.
constinit std::atomic<bool> g_watching_frames = false;
// Whether calls that begin are recorded, and by which clock: not while paused, nor while the hook
// is paused. The hook of an earlier measurement may still be called, where others lie on top of it.
enum class Entering : std::uint8_t { kNo, kByCounter, kByAnyClock };
constinit std::atomic<Entering> g_entering = Entering::kNo;
bool g_paused = false;
bool g_sampling = false;

// Where calls of __init__ may pass over the hook, monitoring reports these.
bool g_subscribed = false;   // to events of sys.monitoring
PyObject* g_init = nullptr;  // the name, interned
// Functions of other names that are the __init__ of a class. One that has gone stays: to ask for
// the events of another in its place costs time and nothing else.
std::unordered_set<const PyCodeObject*> g_other_inits;

bool is_init(PyCodeObject* code) noexcept { return code->co_name == g_init && !is_generator(code); }
bool may_pass_hook(PyCodeObject* code) noexcept {
  return is_init(code) || g_other_inits.contains(code);
}

[[gnu::noinline, gnu::cold]] EventWord first_seen(PyCodeObject* code, PyObject* globals) noexcept {
  const ErrorGuard guard;
  return decide_word(code, globals);
}

// Of a code object that is watched, or whose region this measurement has not entered before;
// or the first event of a thread: `frame` is not yet the current one.
[[gnu::noinline, gnu::cold]] void enter_otherwise(PyCodeObject* code,
                                                  InterpreterFrame* frame) noexcept {
  const EventWord word = known_word(code);
  if (word == kWatched) return enter_watched(code, frame);
  if (record::t_recorder->attached()) return enter_code(code, word);
  note_first_frame(frame);
  enter_code(code, word);
  note_first_frame(nullptr);
}

void leave_call(record::Token token) noexcept {
  if (g_watching_frames) {
    record::t_recorder->leave(token);
  } else {
    record::t_recorder->leave_unrecorded(token);
  }
}

// Frames that are not recorded: they run on behalf of a trace function (which other instrumenters
// cannot see), or they are refused with RecursionError before they begin.
bool passes_over(PyThreadState* thread) noexcept {
  if (is_tracing(thread)) return true;
  return calls_left(thread) <= 0 && thread->recursion_headroom == 0;
}

// How long a call of the hook takes, less the function itself.
class Stopwatch {
 public:
  void stop() noexcept { ticks_ += os::now() - begin_; }
  void go_on() noexcept { begin_ = os::now(); }
  void end() noexcept {
    stop();
    note_timed_events(2, ticks_);
  }

 private:
  std::uint64_t begin_ = os::now();
  std::uint64_t ticks_ = 0;
};
struct NoStopwatch {
  void stop() noexcept {}
  void go_on() noexcept {}
  void end() noexcept {}
};

// `word`: 0 when it is not ready for an event. `now`: when the call begins.
template <typename Watch>
[[gnu::noinline]] PyObject* record_call(PyThreadState* thread, InterpreterFrame* frame,
                                        int throwing, EventWord word, std::uint64_t now,
                                        Watch watch) {
  PyCodeObject* const code = code_of(frame);
  const record::Token token = token_of(code);
  if (word != 0 && record::t_recorder->attached()) [[likely]] {
    record::t_recorder->enter(token, word, now);
  } else {
    enter_otherwise(code, frame);
  }
  watch.stop();
  PyObject* result = g_frame_hook.next(thread, frame, throwing);
  watch.go_on();
  leave_call(token);
  watch.end();
  return result;
}

// A step of a coroutine or the like, with tasks as tracks: it asks before its
// enter and leave, also when a filter excludes it.
PyObject* record_step(PyThreadState* thread, InterpreterFrame* frame, int throwing,
                      PyCodeObject* code) {
  PyObject* generator = generator_of(frame);
  const record::Token token = token_of(code);
  const EventWord word = known_word(code);
  const bool starts = throwing == 0 && runs_first(frame);
  if (task_step_begins(generator, current_frame(thread), starts)) {
    if (word == kWatched) enter_watched(code, frame);
    if (is_region(word)) enter_code(code, word);
  }
  PyObject* result = g_frame_hook.next(thread, frame, throwing);
  if (!g_watching_frames) {
    record::t_recorder->leave_unrecorded(token);
  } else if (result == nullptr || !is_suspended(generator) ||
             task_step_yields(generator, current_frame(thread), result)) {
    record::t_recorder->leave(token);
    task_step_ends(generator);
  }
  return result;
}

// Whether an awaitable is closed that has not begun. 3.11 runs it for that; it is not a task.
bool only_ends(InterpreterFrame* frame, int throwing) noexcept {
  return throwing != 0 && runs_first(frame);
}

// A call that is not recorded, or not by two events alone.
template <typename Watch>
[[gnu::noinline]] PyObject* evaluate_otherwise(PyThreadState* thread, InterpreterFrame* frame,
                                               int throwing, Watch watch) {
  PyCodeObject* code = code_of(frame);
  EventWord word = known_word(code);
  if (word == 0) word = first_seen(code, globals_of(frame));
  if (!is_recorded(word) && !(g_frame_tasks && is_awaitable(code))) {
    return g_frame_hook.next(thread, frame, throwing);
  }
  if (g_entering == Entering::kNo || passes_over(thread)) [[unlikely]]
    return g_frame_hook.next(thread, frame, throwing);
  if (is_generator(code)) {
    if (creates_generator(frame)) return g_frame_hook.next(thread, frame, throwing);
    if (g_frame_tasks && is_awaitable(code)) {
      if (!only_ends(frame, throwing)) return record_step(thread, frame, throwing, code);
      if (!is_recorded(word)) return g_frame_hook.next(thread, frame, throwing);
    }
  }
  if (!ready_word(code, &word)) word = 0;
  return record_call(thread, frame, throwing, word, os::now(), watch);
}

// The end of a call whose leave is not one event alone.
template <typename Watch>
[[gnu::noinline]] PyObject* end_call(PyObject* result, record::Token token, Watch watch) {
  leave_call(token);
  watch.end();
  return result;
}

using HookClock = std::uint64_t (*)() noexcept;
template <HookClock kClock>
constexpr Entering kEnteringBy =
    kClock == os::counter ? Entering::kByCounter : Entering::kByAnyClock;

// The hook. Calls that take more than an enter and a leave, stored at once, go on in functions of
// their own, so that this one saves no registers for them.
template <HookClock kClock, typename Watch>
PyObject* evaluate_as(PyThreadState* thread, InterpreterFrame* frame, int throwing) {
  Watch watch;
  if (stack_runs_low(thread)) [[unlikely]] {
    return evaluate_with_room(evaluate_as<kClock, Watch>, thread, frame, throwing);
  }
  PyCodeObject* code = code_of(frame);
  EventWord word = 0;
  if (!ready_word(code, &word) || g_entering != kEnteringBy<kClock> || passes_over(thread) ||
      is_generator(code)) [[unlikely]] {
    return evaluate_otherwise(thread, frame, throwing, watch);
  }
  const std::uint64_t now = kClock();
  if (!record::t_recorder->enter_at_once(token_of(code), word, now)) [[unlikely]]
    return record_call(thread, frame, throwing, word, now, watch);
  watch.stop();
  PyObject* result = g_frame_hook.next(thread, frame, throwing);
  watch.go_on();
  if (!g_watching_frames || !record::t_recorder->leave_at_once(token_of(code), kClock()))
      [[unlikely]] {
    return end_call(result, token_of(code), watch);
  }
  watch.end();
  return result;
}

// The same where measuring may take a share of the CPU time only.
PyObject* evaluate_sampled(PyThreadState* thread, InterpreterFrame* frame, int throwing) {
  if (is_sample()) [[unlikely]]
    take_sample(code_of(frame));
  return evaluate_as<os::now, NoStopwatch>(thread, frame, throwing);
}

bool has_hook_counter() noexcept { return os::clock_source() != os::ClockSource::kMonotonic; }

template <typename Watch>
FrameEvaluator evaluator() noexcept {
  return has_hook_counter() ? evaluate_as<os::counter, Watch> : evaluate_as<os::now, Watch>;
}

// See callback_times.hpp.
void time_calls(bool timed) noexcept {
  if (g_entering == Entering::kNo || g_sampling) return;
  g_frame_hook.replace(timed ? evaluator<Stopwatch>() : evaluator<NoStopwatch>());
}

void take_or_put_hook() noexcept {
  const bool wanted = g_watching_frames && !g_paused;
  if (wanted == (g_entering != Entering::kNo)) return;
  const bool by_counter = has_hook_counter() && !g_sampling;
  g_entering = !wanted ? Entering::kNo : by_counter ? Entering::kByCounter : Entering::kByAnyClock;
  if (wanted) {
    g_frame_hook.install(g_sampling ? evaluate_sampled : evaluator<NoStopwatch>());
  } else {
    g_frame_hook.remove();
  }
}

void set_paused(bool paused) noexcept {
  g_paused = paused;
  take_or_put_hook();
}

// Whether the frame that begins runs the __init__ of the class of its first argument, or of a class
// below that. Asked once of a code object: what becomes an __init__ later is not found.
bool begins_init(PyCodeObject* code, InterpreterFrame* frame) noexcept {
  PyObject* const self =
      code->co_argcount > 0 && !is_generator(code) ? argument_of(frame, 0) : nullptr;
  PyObject* const classes = self == nullptr ? nullptr : Py_TYPE(self)->tp_mro;
  if (classes == nullptr) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(classes); ++i) {
    auto* const one = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(classes, i));
    if (!PyType_HasFeature(one, Py_TPFLAGS_HEAPTYPE)) continue;
    PyObject* const init = PyDict_GetItemWithError(one->tp_dict, g_init);  // borrowed
    if (init != nullptr && PyFunction_Check(init) &&
        PyFunction_GET_CODE(init) == reinterpret_cast<PyObject*>(code)) {
      return true;
    }
  }
  return false;
}

// Remembers functions that pass over the hook, or may do so later, now that it was asked.
bool note_init(PyCodeObject* code, InterpreterFrame* frame) noexcept try {
  if (may_pass_hook(code)) return true;
  if (!has_passed_hook(frame) && !begins_init(code, frame)) return false;
  g_other_inits.insert(code);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// nullptr: of no code object, or C code fires the event; the hook does not see these, either.
InterpreterFrame* frame_of(PyObject* const* arguments) noexcept {
  return is_of_code(arguments) ? frame_of_event(code_argument(arguments)) : nullptr;
}

// PY_START
PyObject* on_frame_start(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  InterpreterFrame* const frame = frame_of(arguments);
  if (frame == nullptr) return Py_NewRef(Py_None);
  PyCodeObject* code = code_argument(arguments);
  if (!note_init(code, frame)) return Py_NewRef(g_disable);
  if (!has_passed_hook(frame)) return Py_NewRef(Py_None);
  EventWord word = known_word(code);
  if (word == 0) word = first_seen(code, globals_of(frame));
  if (word == kWatched) {
    enter_watched(code, frame);
  } else if (is_region(word)) {
    enter_code(code, word);
  } else {
    return Py_NewRef(g_disable);
  }
  return Py_NewRef(Py_None);
}

// PY_RETURN
PyObject* on_frame_return(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  InterpreterFrame* const frame = frame_of(arguments);
  if (frame == nullptr) return Py_NewRef(Py_None);
  PyCodeObject* code = code_argument(arguments);
  if (!may_pass_hook(code)) return Py_NewRef(g_disable);
  if (has_passed_hook(frame)) {
    record::t_recorder->leave(token_of(code));
  }
  return Py_NewRef(Py_None);
}

// PY_UNWIND
PyObject* on_frame_unwind(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  InterpreterFrame* const frame = frame_of(arguments);
  if (frame != nullptr && has_passed_hook(frame)) {
    record::t_recorder->leave(token_of(code_argument(arguments)));
  }
  return Py_NewRef(Py_None);
}

constexpr MonitoringEvent kInitEvents[] = {{"PY_START", on_frame_start, false},
                                           {"PY_RETURN", on_frame_return, false},
                                           {"PY_UNWIND", on_frame_unwind, false}};

PyObject* ignore(PyObject*, PyObject* const*, std::size_t, PyObject*) noexcept {
  return Py_NewRef(Py_None);
}

// So that generators run when they are closed, see closed_generators.hpp.
constexpr MonitoringEvent kCloseEvents[] = {{"PY_UNWIND", ignore, false}};

// Functions that the hook may miss need a free tool id.
void watch_what_passes() {
  if (!kInitPassesHook && !kClosesUnlessObserved) return;
  if (g_init == nullptr) g_init = PyUnicode_InternFromString("__init__");
  if (g_init == nullptr) return PyErr_Clear();
  g_subscribed = kInitPassesHook ? subscribe(kInitEvents) : subscribe(kCloseEvents);
  if (g_subscribed) return;
  print_not_subscribed(kInitPassesHook ? "calls of __init__ may be missing"
                                       : "generators that are closed may be missing");
}

bool install_frame(const InstrumentOptions& what) {
  g_frame_tasks = what.tasks;
  if (g_frame_tasks) begin_tasks(what.lanes);
  g_sampling = what.budget;
  g_watching_frames = true;
  take_or_put_hook();
  time_frames_by(time_calls);
  watch_what_passes();
  return true;
}

void uninstall_frame() {
  time_frames_by(nullptr);
  g_watching_frames = false;
  if (g_subscribed) unsubscribe();
  g_subscribed = false;
  g_other_inits.clear();
  take_or_put_hook();
  if (g_frame_tasks) pause_tasks();
}

}  // namespace

// Newer versions can throttle single functions, which is better.
const Instrumenter kFrame{.name = "frame",
                          .can = {.tasks = true, .budget = !kHasMonitoring},
                          .reports_every_leave = false,
                          .install = install_frame,
                          .uninstall = uninstall_frame,
                          .pause = kHasMonitoring ? nullptr : set_paused};

}  // namespace timeloom::python
