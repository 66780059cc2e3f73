// The clock of the event path, and its relation to wall time.
//
// A tick is a count of the invariant time-stamp counter on x86-64 or of the virtual counter
// on arm64, or a nanosecond of CLOCK_MONOTONIC where neither counter can be trusted. All
// functions may be called from any thread; none throws.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace timeloom::os {

enum class ClockSource : std::uint32_t { kMonotonic = 0, kTsc = 1, kArmVirtualCounter = 2 };

namespace detail {
// Set before main() where the kernel trusts the counter, and by choose_clock(). Accessed with
// relaxed order: the flag guards no other data, and unmeasured threads may read it at any time.
extern std::atomic<bool> g_counter_used;
std::uint64_t monotonic_ns() noexcept;
}  // namespace detail

// With `system`, now() reads CLOCK_MONOTONIC from this call on, even if the counter is trusted.
// REQUIRES: no measurement is running, since ticks of the two sources cannot be compared.
void choose_clock(bool system) noexcept;

// The source that now() reads in this process.
ClockSource clock_source() noexcept;

// The processor's counter: the current time in ticks where clock_source() is not kMonotonic. Not
// serialising: on the event path the few nanoseconds by which the CPU may reorder the read matter
// less than a fence.
inline std::uint64_t counter() noexcept {
#if defined(__x86_64__)
  // Without <x86intrin.h>, which takes half a second to compile wherever this file is included.
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return detail::monotonic_ns();
#endif
}

// The current time in ticks.
inline std::uint64_t now() noexcept {
  if (detail::g_counter_used.load(std::memory_order_relaxed)) [[likely]]
    return counter();
  return detail::monotonic_ns();
}

// The same instant on three clocks. Two such readings give the linear map from ticks to time.
struct ClockSync {
  std::uint64_t ticks = 0;
  std::uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t realtime_ns = 0;   // nanoseconds since 1970
};

// Reads the three clocks as closely together as a few tries allow.
ClockSync sync_clocks() noexcept;

}  // namespace timeloom::os
