#include "python/observe/tasks/task_wakeups.hpp"

#include <deque>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>

#include "python/interpreter/python_text.hpp"
#include "python/observe/regions/watched.hpp"
#include "python/observe/tasks/task_names.hpp"
#include "python/observe/tasks/tasks.hpp"
#include "python/observe/wakeup_events.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// The number that was recorded when a callback was handed to the loop. Callbacks that this one
// hands on share it; it becomes 0 when a task was woken, as a number has one task.
using Origin = std::shared_ptr<std::uint64_t>;

struct WakeupState {
  // By the handle of a callback that may wake a task. A handle takes the place of one that died at
  // its address.
  std::unordered_map<PyObject*, Origin> handed;
};

WakeupState& wakeup_state() {
  static auto* const kInstance = new WakeupState;
  return *kInstance;
}

// The task that has ended last on a thread, and the numbers of its callbacks, next first.
struct Ended {
  PyObject* coroutine = nullptr;  // compared only
  std::deque<std::uint64_t> numbers;
};
thread_local Ended t_ended;

// Whether the frame runs this function of asyncio.
bool task_runs(InterpreterFrame* frame, const char* module, const char* function) noexcept {
  if (frame == nullptr || !is_text(code_of(frame)->co_qualname, function)) return false;
  return is_text(PyDict_GetItemString(globals_of(frame), "__name__"), module);
}

// The handle whose callback runs; nullptr: none does. Borrowed.
PyObject* running_handle(InterpreterFrame* frame) noexcept {
  while (frame != nullptr && !task_runs(frame, "asyncio.events", "Handle._run")) {
    frame = outer_frame_of(frame);
  }
  return frame == nullptr ? nullptr : local_of(frame, 0);
}

std::uint64_t take_next(Ended& ended) {
  const std::uint64_t number = ended.numbers.front();
  ended.numbers.pop_front();
  return number;
}

// What runs on this thread wakes a task, or hands a callback to the loop; that was, or is now,
// recorded by this number.
Origin origin_of(InterpreterFrame* frame) {
  PyObject* handle = runs_task() ? nullptr : running_handle(frame);
  if (handle == nullptr) return std::make_shared<std::uint64_t>(record_wakeup());
  const auto handed = wakeup_state().handed.find(handle);
  if (handed != wakeup_state().handed.end() && *handed->second != 0) return handed->second;
  const Ref callback = callback_of_handle(handle);
  const Ref ended = callback ? task_step_of(callback.get()).coroutine : Ref();
  const bool ends_now = ended && ended.get() == t_ended.coroutine && !t_ended.numbers.empty();
  return std::make_shared<std::uint64_t>(ends_now ? take_next(t_ended) : record_wakeup());
}

// Whether the function that has made a handle asks the loop to run it soon. From 3.14 on handles
// from other threads have a type of their own.
bool hands_to_loop(InterpreterFrame* maker) noexcept {
  if (task_runs(maker, "asyncio.events", "_ThreadSafeHandle.__init__")) {
    return task_runs(outer_frame_of(maker), "asyncio.base_events",
                     "BaseEventLoop.call_soon_threadsafe");
  }
  return task_runs(maker, "asyncio.base_events", "BaseEventLoop._call_soon");
}

void handle_made(PyObject* handle, PyObject* callback, InterpreterFrame* maker) {
  wakeup_state().handed.erase(handle);
  if (const TaskStep step = task_step_of(callback); step.coroutine) {
    PyObject* coroutine = step.coroutine.get();
    if (step.wakes && is_suspended_task(coroutine)) {
      note_wakeup(coroutine, std::exchange(*origin_of(maker), 0));
    }
    return;
  }
  // Else it is the callback of a timer, or of a file that is watched.
  if (!hands_to_loop(maker)) return;
  if (Origin origin = origin_of(maker); *origin != 0)
    wakeup_state().handed[handle] = std::move(origin);
}

// The frame that has made the call; instrumenters tell of a call before or after it is linked.
InterpreterFrame* caller_of(InterpreterFrame* frame) noexcept {
  InterpreterFrame* current = current_frame(PyThreadState_Get());
  return current == frame ? outer_frame_of(frame) : current;
}

// Handle.__init__(self, callback, ...)
void on_handle(InterpreterFrame* frame, bool) noexcept {
  PyObject* callback = local_of(frame, 1);
  if (!tasks_are_tracks() || callback == nullptr) return;
  const ErrorGuard guard;
  try {
    handle_made(local_of(frame, 0), callback, caller_of(frame));
  } catch (const std::bad_alloc&) {
    return;  // a wakeup whose origin is not known
  }
}

// Runner.reschedule(self, task, ...)
void on_reschedule(InterpreterFrame* frame, bool) noexcept {
  PyObject* task = local_of(frame, 1);
  if (!tasks_are_tracks() || task == nullptr) return;
  const ErrorGuard guard;
  try {
    const Ref coroutine = coroutine_of_trio_task(task);
    // The loop itself lets a task go on that has only given way.
    const bool given_way = task_runs(caller_of(frame), "trio._core._run", "unrolled_run");
    if (given_way || !is_suspended_task(coroutine.get())) return;
    note_wakeup(coroutine.get(), record_wakeup());
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace

void watch_wakeups() {
  watch_function("asyncio.events.Handle.__init__", on_handle);
  watch_function("trio._core._run.Runner.reschedule", on_reschedule);
}

void forget_wakeups() noexcept {
  wakeup_state().handed.clear();
  t_ended = {};
}

void record_wakeups_at_end(PyObject* coroutine) noexcept {
  t_ended.coroutine = coroutine;
  t_ended.numbers.clear();
  try {
    for (std::size_t left = callbacks_at_end_of(coroutine); left > 0; --left) {
      t_ended.numbers.push_back(record_wakeup());
    }
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace timeloom::python
