// Visits of the recorders of other threads, between the native calls of these (native_call.hpp).
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "os/barrier.hpp"
#include "record/measurement_state.hpp"
#include "record/native/native_call.hpp"

namespace timeloom::record {

constinit std::atomic<int> detail::g_visitors = 0;
constinit std::atomic<bool> detail::g_calls_have_barriers = true;
constinit std::atomic<std::uint64_t> detail::g_missed_events = 0;

void offer_barriers() noexcept { detail::g_calls_have_barriers = !os::offer_barriers(); }

namespace {

// After it the caller sees which threads had begun a call before it became a visitor. A program
// that has forbidden itself system calls since the start may die of one more: processors write out
// their stores within nanoseconds, so a thousandth of a second is enough, once. REQUIRES: the
// mutex.
void see_native_calls(State& s) noexcept {
  if (detail::g_calls_have_barriers) return;
  if (!s.filters.added() && os::barrier_on_all_threads()) return;
  detail::g_calls_have_barriers = true;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1)) {
  }
}

}  // namespace

Halted::Halted() noexcept : lock_(state().mutex) {
  detail::g_visitors.fetch_add(1);
  see_native_calls(state());
  while (std::ranges::any_of(state().attached,
                             [](const Attached& a) { return a.recorder->in_native_call(); })) {
    // The call may itself wait for the mutex.
    lock_.unlock();
    sched_yield();
    lock_.lock();
  }
}

Halted::~Halted() {
  detail::g_visitors.fetch_sub(1);
  count_missed_events(state());
}

void count_missed_events(State& s) noexcept {
  const std::uint64_t missed = detail::g_missed_events.exchange(0);
  if (missed != 0 && s.writer != nullptr) s.writer->count_lost(missed);
}

}  // namespace timeloom::record
