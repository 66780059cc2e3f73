#include "python/observe/cost/instrumenter_pause.hpp"

#include <algorithm>
#include <atomic>
#include <new>

#include "core/throttled.hpp"
#include "python/interpreter/compat.hpp"
#include "python/observe/hooks/unseen_calls.hpp"
#include "record/alarm.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

constexpr std::uint64_t kShortestLookNs = 1'000'000;
constexpr std::uint64_t kLongestLookNs = 50'000'000;

struct Pause {
  void (*pause)(bool) noexcept = nullptr;
  void (*on_end)(std::uint64_t) noexcept = nullptr;
  std::atomic<bool> paused = false;
  std::uint64_t begin_ns = 0;  // of the measurement; these are CPU times of the process
  std::uint64_t paused_since_ns = 0;
  std::uint64_t paused_ns = 0;  // in stretches that are over
  std::atomic<std::uint64_t> until_ns = 0;
};
constinit Pause g_pause;
constinit std::atomic<bool> g_was_paused = false;

void go_on() noexcept {
  if (!g_pause.paused) return;
  const std::uint64_t now = record::process_cpu_ns();
  g_pause.paused = false;
  g_pause.paused_ns += now - g_pause.paused_since_ns;
  g_pause.on_end(now);
  g_pause.pause(false);
}

// On a thread of ours, without the GIL.
std::uint64_t look_at_clock() noexcept {
  const std::uint64_t now = record::process_cpu_ns();
  const std::uint64_t until = g_pause.until_ns.load(std::memory_order_relaxed);
  const bool over = now >= until;
  if (over || met_unknown_function()) {
    const PyGILState_STATE state = PyGILState_Ensure();
    define_open_functions();
    if (over) go_on();
    PyGILState_Release(state);
  }
  return over ? 0 : std::clamp(until - now, kShortestLookNs, kLongestLookNs);
}

ObservedCpu observed_cpu() noexcept {
  const std::uint64_t now = record::process_cpu_ns();
  const std::uint64_t paused_ns =
      g_pause.paused_ns + (g_pause.paused ? now - g_pause.paused_since_ns : 0);
  const std::uint64_t all = now - g_pause.begin_ns;
  return {.seen_ns = all - std::min(all, paused_ns), .all_ns = all};
}

void note(const ObservedCpu& observed) noexcept {
  try {
    record::note_property(kObservedCpu, to_text(observed));
  } catch (const std::bad_alloc&) {
    return;  // as of a process that was killed
  }
}

}  // namespace

void enable_pauses(void (*pause)(bool) noexcept, void (*on_end)(std::uint64_t) noexcept) noexcept {
  g_pause.pause = pause;
  g_pause.on_end = on_end;
}

void restart_pauses() noexcept {
  if (!can_pause()) return;
  go_on();
  if (was_paused()) define_open_functions();
  g_pause.begin_ns = record::process_cpu_ns();
  g_pause.paused_ns = 0;
}

void disable_pauses() noexcept {
  if (!can_pause()) return;
  Py_BEGIN_ALLOW_THREADS;  // the thread of ours may wait for the GIL
  record::cancel_alarm(record::AlarmUse::kRest);
  Py_END_ALLOW_THREADS;
  go_on();
  g_was_paused = false;
  g_pause.pause = nullptr;
  g_pause.paused_ns = 0;
}

bool can_pause() noexcept { return g_pause.pause != nullptr; }
bool is_paused() noexcept { return g_pause.paused; }
bool was_paused() noexcept { return g_was_paused.load(std::memory_order_relaxed); }

void pause_until(std::uint64_t cpu_ns) noexcept {
  const std::uint64_t now = record::process_cpu_ns();
  if (g_pause.paused_ns == 0) note({});  // should the process be killed
  g_pause.paused = true;
  g_was_paused = true;
  g_pause.paused_since_ns = now;
  g_pause.until_ns = cpu_ns;
  g_pause.pause(true);
  const std::uint64_t left = cpu_ns > now ? cpu_ns - now : 0;
  record::set_alarm(record::AlarmUse::kRest,
                    record::monotonic_ns() + std::clamp(left, kShortestLookNs, kLongestLookNs),
                    look_at_clock);
}

void note_stretches() noexcept {
  if (can_pause()) note(observed_cpu());
}

std::optional<double> observed_share() noexcept {
  if (!can_pause() || (g_pause.paused_ns == 0 && !g_pause.paused)) return std::nullopt;
  return share_of(observed_cpu());
}

}  // namespace timeloom::python
