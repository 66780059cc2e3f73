#include "os/clock.hpp"

#include <cstdio>
#include <cstring>

namespace timeloom::os {
namespace {

std::uint64_t read_ns(clockid_t id) noexcept {
  timespec ts{};
  clock_gettime(id, &ts);
  return static_cast<std::uint64_t>(ts.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(ts.tv_nsec);
}

#if defined(__x86_64__)
// The kernel has watched the counter since boot; it offers "tsc" only while the
// counter is invariant and synchronous over the cores.
bool kernel_trusts_tsc() noexcept {
  std::FILE* file =
      std::fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "re");
  if (file == nullptr) return false;
  char line[256] = "";
  const bool read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  if (!read) return false;
  for (char* rest = line; char* name = strtok_r(rest, " \n", &rest);) {
    if (std::strcmp(name, "tsc") == 0) return true;
  }
  return false;
}
#endif

bool counter_usable() noexcept {
#if defined(__x86_64__)
  return kernel_trusts_tsc();
#elif defined(__aarch64__)
  return true;  // the architecture guarantees a constant, synchronous counter
#else
  return false;
#endif
}

}  // namespace

std::atomic<bool> detail::g_counter_used = counter_usable();

void choose_clock(bool system) noexcept {
  static const bool kUsable = counter_usable();
  detail::g_counter_used = !system && kUsable;
}

std::uint64_t detail::monotonic_ns() noexcept { return read_ns(CLOCK_MONOTONIC); }

ClockSource clock_source() noexcept {
  if (!detail::g_counter_used) return ClockSource::kMonotonic;
#if defined(__aarch64__)
  return ClockSource::kArmVirtualCounter;
#else
  return ClockSource::kTsc;
#endif
}

ClockSync sync_clocks() noexcept {
  constexpr int kTries = 8;
  ClockSync best;
  std::uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = now();
    const std::uint64_t monotonic = read_ns(CLOCK_MONOTONIC);
    const std::uint64_t after = now();
    const std::uint64_t realtime = read_ns(CLOCK_REALTIME);
    if (after - before < best_width) {
      best_width = after - before;
      best = {before + (after - before) / 2, monotonic, realtime};
    }
  }
  if (!detail::g_counter_used) best.ticks = best.monotonic_ns;
  return best;
}

}  // namespace timeloom::os
