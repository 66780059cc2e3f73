// Instrumenters "profile" and "trace": PyEval_SetProfile and PyEval_SetTrace.
//
// CPython keeps these hooks per thread, and a new thread starts without one. A
// catcher that sees every call in every thread (sys.monitoring where there is
// one, a frame hook on 3.11) puts the hook on threads that lack it: those that
// run already, those that the program starts by any means, and those that C
// code brings in. A hook that the program itself sets is left alone. When we
// stop watching, each thread drops the hook at its next event.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "python/interpreter/deep_stack.hpp"
#include "python/interpreter/frame_hook.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/interpreter/set_profile.hpp"
#include "python/observe/hooks/c_functions.hpp"
#include "python/observe/hooks/event_code.hpp"
#include "python/observe/hooks/instrumenter.hpp"
#include "python/observe/hooks/monitoring_tool.hpp"
#include "python/observe/hooks/reconcile.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/measurement.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {
namespace {

enum class Hook { kProfile, kTrace };
constinit std::atomic<Hook> g_legacy_hook = Hook::kProfile;
constinit std::atomic<bool> g_c_functions = false;
constinit std::atomic<bool> g_watching_legacy = false;
std::atomic<std::uint64_t> g_passed_over = 0;  // events that are not regions of ours
PyObject* catch_by_frame(PyThreadState* thread, InterpreterFrame* frame, int throwing);
constinit FrameHook g_catching_hook;

// The calls that libraries have reported on a thread and that have not ended (3.12 and later).
// Their events come with the frame of the library's caller, which goes on, so they are not visits
// of it.
struct LibraryCall {
  InterpreterFrame* caller;
  bool of_code = true;  // Cython and numba report code objects, others anything
};
constexpr std::size_t kMostLibraryCalls = 1000;  // of a thread: the end of some is not reported
thread_local std::vector<LibraryCall> t_library_calls;
thread_local std::uint32_t t_library_start = 0;           // to which these belong
constinit std::atomic<std::uint32_t> g_legacy_start = 0;  // counts the times that hooks were put
constinit std::atomic<bool> g_library_calls = false;      // a library has reported one

// The calls on this thread, without any from before the last start.
[[gnu::noinline, gnu::cold]] std::vector<LibraryCall>& library_calls() noexcept {
  const std::uint32_t start = g_legacy_start.load(std::memory_order_relaxed);
  if (std::exchange(t_library_start, start) != start) t_library_calls.clear();
  return t_library_calls;
}

// Whether the event is about such a call, which begins with it, rather than about `frame`.
[[gnu::noinline, gnu::cold]] bool begin_library_call(PyFrameObject* frame) noexcept try {
  InterpreterFrame* const caller = interpreter_frame_of(frame);
  if (is_at_begin(caller)) return false;
  std::vector<LibraryCall>& calls = library_calls();
  if (calls.size() >= kMostLibraryCalls) calls.erase(calls.begin());
  calls.push_back({caller});
  g_library_calls.store(true, std::memory_order_relaxed);
  return true;
} catch (const std::bad_alloc&) {
  return true;
}

// Whether the innermost of them in the frame ends, rather than the frame itself, which ends after
// them. Calls from other frames may have begun since: a thread may switch between stacks.
[[gnu::noinline, gnu::cold]] bool end_library_call(PyFrameObject* frame) noexcept {
  InterpreterFrame* const caller = interpreter_frame_of(frame);
  std::vector<LibraryCall>& calls = library_calls();
  const auto found = std::find_if(calls.rbegin(), calls.rend(),
                                  [&](const LibraryCall& call) { return call.caller == caller; });
  if (found == calls.rend()) return false;
  if (!found->of_code) count_left_out_event();
  calls.erase(std::next(found).base());
  return true;
}

// The catcher is called after the hook for the same event, and gets the object that the hook does
// not get.
[[gnu::noinline, gnu::cold]] void catch_library_call(PyThreadState* thread) noexcept {
  std::vector<LibraryCall>& calls = library_calls();
  if (calls.empty() || calls.back().caller != current_frame(thread)) return;
  calls.back().of_code = false;
  count_left_out_event();
}

void on_legacy_call(PyFrameObject* frame) noexcept {
  if (!is_at_resume(interpreter_frame_of(frame))) [[unlikely]] {
    if (begin_library_call(frame)) return;
  }
  const Ref code(PyFrame_GetCode(frame));
  if (g_c_functions && record::t_recorder->innermost() != token_of(code.code())) {
    InterpreterFrame* const caller = direct_caller_of(interpreter_frame_of(frame));
    if (caller != nullptr) leave_returned_c_function(*record::t_recorder, code_of(caller));
  }
  EventWord word = 0;
  if (ready_word(code.code(), &word)) [[likely]] {
    return record::t_recorder->enter(token_of(code.code()), word);
  }
  word = known_word(code.code());
  if (word == 0) {
    const ErrorGuard guard;
    const Ref globals(PyFrame_GetGlobals(frame));
    word = decide_word(code.code(), globals.get());
  }
  if (word == kWatched) {
    enter_watched(code.code(), interpreter_frame_of(frame));
  } else if (is_region(word)) {
    enter_code(code.code(), word);
  }
}

void on_legacy_return(PyFrameObject* frame) noexcept {
  if (g_library_calls.load(std::memory_order_relaxed)) [[unlikely]] {
    if (end_library_call(frame)) return;
  }
  const Ref code(PyFrame_GetCode(frame));
  const record::Token token = token_of(code.code());
  if (record::t_recorder->leave_last(token)) return;
  if (is_recorded(known_word(code.code()))) record::t_recorder->leave_outer(token);
}

// Whether C functions that this frame calls are recorded.
bool legacy_records_calls_of(PyFrameObject* frame) noexcept {
  const Ref code(PyFrame_GetCode(frame));
  EventWord word = known_word(code.code());
  if (word == 0) {
    const Ref globals(PyFrame_GetGlobals(frame));
    word = decide_word(code.code(), globals.get());
  }
  return calls_c_recorded(word);
}

// One more; lost counts of threads without a GIL do not matter to an estimate.
void count_passed_over() noexcept {
  g_passed_over.store(g_passed_over.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Puts `function` on the calling thread, for which others are stopped without a GIL.
void set_hook(Hook hook, Py_tracefunc function) noexcept {
  const ControlLock control;
  if (hook == Hook::kProfile) {
    PyEval_SetProfile(function, nullptr);
  } else {
    PyEval_SetTrace(function, nullptr);
  }
}

// A function for each kind of hook: a thread may still have the one of a past
// measurement when it gets the other.
template <Hook kHook>
int on_event(PyObject*, PyFrameObject* frame, int what, PyObject* argument) {
  if (!g_watching_legacy || g_legacy_hook != kHook) {
    set_hook(kHook, nullptr);
    return 0;
  }
  switch (what) {
    case PyTrace_CALL: on_legacy_call(frame); break;
    case PyTrace_RETURN: on_legacy_return(frame); break;
    case PyTrace_C_CALL:
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION: {
      PyMethodDef* method = g_c_functions ? c_function_of(argument) : nullptr;
      if (method == nullptr || !legacy_records_calls_of(frame)) {
        count_passed_over();
        break;
      }
      if (what == PyTrace_C_CALL) {
        const Ref code(PyFrame_GetCode(frame));
        enter_c_function(method, argument, code.code());
      } else {
        leave_c_function(method, argument);
      }
      break;
    }
    default: count_passed_over();  // lines, exceptions
  }
  return 0;
}

// The thread state that got our hook last on this thread, and the start at which it did. One that
// lacks the hook since had another in its place.
struct HookedThread {
  std::uint64_t id = 0;
  std::uint32_t start = 0;
  bool operator==(const HookedThread&) const = default;
};
thread_local HookedThread t_hooked;
constinit std::atomic<bool> g_displaced = false;  // some thread had another hook for a time

Py_tracefunc hook_of(PyThreadState* thread) noexcept {
  return g_legacy_hook == Hook::kProfile ? thread->c_profilefunc : thread->c_tracefunc;
}

Py_tracefunc our_hook() noexcept {
  return g_legacy_hook == Hook::kProfile ? on_event<Hook::kProfile> : on_event<Hook::kTrace>;
}

void put_hook() noexcept {
  const ErrorGuard guard;
  const HookedThread hooked{PyThreadState_GetID(PyThreadState_Get()),
                            g_legacy_start.load(std::memory_order_relaxed)};
  if (std::exchange(t_hooked, hooked) == hooked) g_displaced = true;
  set_hook(g_legacy_hook, our_hook());
}

PyObject* catch_by_monitoring(PyObject*, PyObject* const* arguments, std::size_t,
                              PyObject*) noexcept {
  PyThreadState* thread = PyThreadState_Get();
  if (hook_of(thread) == nullptr) [[unlikely]] {
    // The program may have had a hook of its own here, and we seen nothing. That
    // this frame begins has been reported before, when there was no hook. Events that C code fires
    // are of no frame.
    const bool begins =
        is_of_code(arguments) && frame_of_event(code_argument(arguments)) != nullptr;
    const Ref beginning(begins ? PyThreadState_GetFrame(thread) : nullptr);
    reconcile_this_thread(beginning.frame());
    put_hook();
    if (beginning) on_legacy_call(beginning.frame());
  }
  if (!is_of_code(arguments)) [[unlikely]]
    catch_library_call(thread);
  return Py_NewRef(Py_None);
}

PyObject* catch_by_frame(PyThreadState* thread, InterpreterFrame* frame, int throwing) {
  if (stack_runs_low(thread)) [[unlikely]] {
    return evaluate_with_room(catch_by_frame, thread, frame, throwing);
  }
  if (g_watching_legacy && hook_of(thread) == nullptr && !is_tracing(thread)) [[unlikely]] {
    reconcile_this_thread(nullptr);  // `frame` is not yet among those that run
    put_hook();
  }
  return g_catching_hook.next(thread, frame, throwing);
}

bool install_catcher() {
  if constexpr (kHasMonitoring) {
    static constexpr MonitoringEvent kBegins[] = {
        {"PY_START", catch_by_monitoring, false},
        {"PY_RESUME", call_of_resume<catch_by_monitoring>, false},
        {"PY_THROW", catch_by_monitoring, false}};
    if (subscribe(kBegins)) return true;
    // The threads that are there have been hooked.
    print_not_subscribed("threads that start from now on are not recorded");
    return true;
  }
  g_catching_hook.install(catch_by_frame);
  return true;
}

void uninstall_catcher() {
  if constexpr (kHasMonitoring) return unsubscribe();
  g_catching_hook.remove();
}

// Nothing asks at each call whether the hook is still ours: that would cost each call.
void print_if_displaced() {
  static constinit bool said = false;
  const Py_tracefunc present = hook_of(PyThreadState_Get());
  const bool is_taken = present != nullptr && present != our_hook();
  if (said || !record::active() || !(is_taken || g_displaced)) return;
  said = true;
  const std::string setter = g_legacy_hook == Hook::kProfile ? "sys.setprofile" : "sys.settrace";
  print_line("the program has used " + setter +
             ", which observes it; calls in that time are not "
             "in the run (--instrumenter frame records them) [TL069]");
}

std::uint64_t ignored_callbacks() noexcept { return g_passed_over.load(std::memory_order_relaxed); }

bool install_legacy(Hook hook, const InstrumentOptions& what) {
  g_legacy_hook = hook;
  g_c_functions = what.c_functions;
  g_library_calls = false;
  g_displaced = false;
  ++g_legacy_start;
  g_watching_legacy = true;
  if (hook == Hook::kProfile) hide_return_of_set_profile(our_hook());
  if (hook_of(PyThreadState_Get()) == nullptr) put_hook();
  return install_catcher();
}

void uninstall_legacy() {
  g_watching_legacy = false;
  uninstall_catcher();
  const ErrorGuard guard;
  print_if_displaced();
  if (hook_of(PyThreadState_Get()) == our_hook()) set_hook(g_legacy_hook, nullptr);
}

}  // namespace

const Instrumenter kProfile{
    "profile",
    {.c_functions = true},
    true,
    [](const InstrumentOptions& what) { return install_legacy(Hook::kProfile, what); },
    uninstall_legacy,
    ignored_callbacks};
const Instrumenter kTrace{
    "trace",
    {},
    true,
    [](const InstrumentOptions& what) { return install_legacy(Hook::kTrace, what); },
    uninstall_legacy,
    ignored_callbacks};

}  // namespace timeloom::python
