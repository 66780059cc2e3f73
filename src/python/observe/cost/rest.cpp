#include "python/observe/cost/rest.hpp"

#include <algorithm>
#include <atomic>
#include <new>

#include "core/given_up.hpp"
#include "python/interpreter/compat.hpp"
#include "record/alarm.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

constexpr std::uint64_t kShortestLookNs = 1'000'000;
constexpr std::uint64_t kLongestLookNs = 50'000'000;

struct Rest {
  void (*rest)(bool) noexcept = nullptr;
  void (*on_end)(std::uint64_t) noexcept = nullptr;
  bool resting = false;
  std::uint64_t begin_ns = 0;  // of the measurement; these are CPU times of the process
  std::uint64_t resting_since_ns = 0;
  std::uint64_t rested_ns = 0;  // in stretches that are over
  std::atomic<std::uint64_t> until_ns = 0;
};
constinit Rest g_rest;

void go_on() noexcept {
  if (!g_rest.resting) return;
  const std::uint64_t now = record::process_cpu_ns();
  g_rest.resting = false;
  g_rest.rested_ns += now - g_rest.resting_since_ns;
  g_rest.on_end(now);
  g_rest.rest(false);
}

// On a thread of ours, without the GIL.
std::uint64_t look_at_clock() noexcept {
  const std::uint64_t now = record::process_cpu_ns();
  const std::uint64_t until = g_rest.until_ns.load(std::memory_order_relaxed);
  if (now < until) return std::clamp(until - now, kShortestLookNs, kLongestLookNs);
  const PyGILState_STATE state = PyGILState_Ensure();
  go_on();
  PyGILState_Release(state);
  return 0;
}

ObservedCpu observed_cpu() noexcept {
  const std::uint64_t now = record::process_cpu_ns();
  const std::uint64_t rested =
      g_rest.rested_ns + (g_rest.resting ? now - g_rest.resting_since_ns : 0);
  const std::uint64_t all = now - g_rest.begin_ns;
  return {.seen_ns = all - std::min(all, rested), .all_ns = all};
}

void note(const ObservedCpu& observed) noexcept {
  try {
    record::note_property(kObservedCpu, to_text(observed));
  } catch (const std::bad_alloc&) {
    return;  // as of a process that was killed
  }
}

}  // namespace

void begin_resting(void (*rest)(bool) noexcept, void (*on_end)(std::uint64_t) noexcept) noexcept {
  g_rest.rest = rest;
  g_rest.on_end = on_end;
}

void continue_resting() noexcept {
  if (!can_rest()) return;
  go_on();
  g_rest.begin_ns = record::process_cpu_ns();
  g_rest.rested_ns = 0;
}

void end_resting() noexcept {
  if (!can_rest()) return;
  Py_BEGIN_ALLOW_THREADS;  // the thread of ours may wait for the GIL
  record::cancel_alarm(record::AlarmUse::kRest);
  Py_END_ALLOW_THREADS;
  go_on();
  g_rest.rest = nullptr;
  g_rest.rested_ns = 0;
}

bool can_rest() noexcept { return g_rest.rest != nullptr; }
bool rests() noexcept { return g_rest.resting; }

void rest_until(std::uint64_t cpu_ns) noexcept {
  const std::uint64_t now = record::process_cpu_ns();
  if (g_rest.rested_ns == 0) note({});  // should the process be killed
  g_rest.resting = true;
  g_rest.resting_since_ns = now;
  g_rest.until_ns = cpu_ns;
  g_rest.rest(true);
  const std::uint64_t left = cpu_ns > now ? cpu_ns - now : 0;
  record::set_alarm(record::AlarmUse::kRest,
                    record::monotonic_ns() + std::clamp(left, kShortestLookNs, kLongestLookNs),
                    look_at_clock);
}

void note_stretches() noexcept {
  if (can_rest()) note(observed_cpu());
}

std::optional<double> observed_share() noexcept {
  if (!can_rest() || (g_rest.rested_ns == 0 && !g_rest.resting)) return std::nullopt;
  return share_of(observed_cpu());
}

}  // namespace timeloom::python
