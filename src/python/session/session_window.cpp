#include "python/session/session_window.hpp"

#include "python/interpreter/compat_frame.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/pending_call.hpp"
#include "python/interpreter/python_fork_handlers.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/alarm.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

using Kind = WindowPoint::Kind;

struct WindowState {
  Window window;
  WindowActions actions{};
  std::uint64_t start_ns = 0;
  bool active = false;
  bool open = false;
  bool over = false;          // no further window will open
  std::uint64_t calls = 0;    // of the region of --from while it was awaited
  std::uint64_t depth = 0;    // open calls of the region of --until
  std::uint64_t windows = 0;  // opened
};
WindowState g_state;

void open_recording_window() {
  if (!g_state.active || g_state.open || g_state.over) return;
  g_state.open = true;
  g_state.depth = 0;
  ++g_state.windows;
  g_state.actions.open();
}

void close_recording_window(bool for_good) {
  if (!g_state.active || !g_state.open) return;
  g_state.open = false;
  g_state.over = for_good || g_state.window.from.kind != Kind::kRegion;
  g_state.actions.close(!g_state.over);
}

// The time of the next change; 0: none.
std::uint64_t next_time() noexcept {
  const WindowState& s = g_state;
  if (!s.active || s.over) return 0;
  if (!s.open && s.window.from.kind == Kind::kTime) return s.start_ns + s.window.from.ns;
  return s.window.until.kind == Kind::kTime ? s.start_ns + s.window.until.ns : 0;
}

bool ask_python() noexcept;
constexpr std::uint64_t kAskAgainNs = 1'000'000;

void set_alarm() noexcept {
  const std::uint64_t time = next_time();
  if (time == 0) return;
  record::set_alarm(record::AlarmUse::kWindow, time,
                    []() noexcept -> std::uint64_t { return ask_python() ? 0 : kAskAgainNs; });
}

// Runs on the main thread, between two instructions of the program.
int on_time(void*) {
  if (in_fork_handlers() && ask_python()) return 0;
  const ControlLock control;
  const CriticalSection critical;
  const std::uint64_t time = next_time();
  if (time == 0) return 0;
  if (record::monotonic_ns() < time) return set_alarm(), 0;  // after a fork
  const ErrorGuard guard;
  if (!g_state.open && g_state.window.from.kind == Kind::kTime) {
    open_recording_window();
  } else {
    g_state.open = true;  // a window that never opened ends, too
    close_recording_window(true);
  }
  set_alarm();
  return 0;
}

// False when the interpreter's list of pending calls is full.
bool ask_python() noexcept { return call_on_main_thread(on_time); }

// Called when the region of --from is called while it is awaited.
void begin_at(InterpreterFrame* frame) noexcept {
  if (g_state.calls++ < g_state.window.after) return;
  const ControlLock control;  // another thread may have opened or closed it meanwhile
  const ErrorGuard guard;
  open_recording_window();
  // Under the rules of the recording, which use another word for it.
  PyCodeObject* code = code_of(frame);
  EventWord word = known_word(code);
  if (word == 0) word = decide_word(code, globals_of(frame));
  if (word == kWatched) enter_watched(code, frame);
}

template <bool kBegins, bool kEnds>
void on_window_call(InterpreterFrame* frame, bool recorded) noexcept {
  if (!g_state.active || g_state.over) return;
  if (kBegins && !g_state.open) return begin_at(frame);
  if (!kEnds || !g_state.open || !recorded) return;
  ++g_state.depth;
  record::t_recorder->request_leave_callback();
}

void on_window_leave() noexcept {
  const CriticalSection critical;
  if (!g_state.active || !g_state.open || g_state.depth == 0) return;
  if (--g_state.depth > 0) return;
  const ControlLock control;
  if (g_state.depth > 0) return;  // another thread has called it meanwhile
  const ErrorGuard guard;         // an exception may be leaving it
  close_recording_window(false);
}

void watch_regions(const Window& window) {
  const WindowPoint &from = window.from, &until = window.until;
  if (from.kind == Kind::kRegion && until.kind == Kind::kRegion && from.region == until.region) {
    return watch_function(from.region, on_window_call<true, true>);
  }
  if (from.kind == Kind::kRegion) watch_function(from.region, on_window_call<true, false>);
  if (until.kind == Kind::kRegion) watch_function(until.region, on_window_call<false, true>);
}

}  // namespace

bool begin_windows(const Window& window, std::uint64_t start_ns, const WindowActions& actions) {
  g_state = {};
  if (!window.any()) return true;
  g_state.window = window;
  g_state.actions = actions;
  g_state.start_ns = start_ns;
  g_state.active = true;
  g_state.open = window.from.kind == Kind::kNone;
  g_state.windows = g_state.open ? 1 : 0;
  record::set_leave_callback(on_window_leave);
  watch_regions(window);
  set_alarm();
  return g_state.open;
}

bool awaits_region() noexcept {
  return g_state.active && !g_state.open && !g_state.over &&
         g_state.window.from.kind == Kind::kRegion;
}

void end_windows() noexcept {
  if (!g_state.active) return;
  g_state.active = false;
  for (const WindowPoint* point : {&g_state.window.from, &g_state.window.until}) {
    if (point->kind == Kind::kRegion) unwatch_function(point->region);
  }
  record::cancel_alarm(record::AlarmUse::kWindow);
}

void pause_windows() noexcept { record::cancel_alarm(record::AlarmUse::kWindow); }

void resume_windows() noexcept {
  const CriticalSection critical;
  if (g_state.active && next_time() != 0 && !ask_python()) set_alarm();
}

void count_windows_of_child() noexcept { g_state.windows = g_state.open ? 1 : 0; }

std::uint64_t windows_opened() noexcept { return g_state.windows; }

}  // namespace timeloom::python
