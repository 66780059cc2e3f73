// How long a thread waits: wall time less the time in which it ran on a processor.
//
// Both clocks are read only at the end of a gap: a time in which nothing was recorded for longer
// than kGap. Between two readings the thread worked, or waited for less than kGap at once; so what
// it waited for since the last reading was in the gap, as far as it fits.
//
// Made while its thread runs. waited() may be called by another one, when that thread does not
// record; once the thread has ended it says 0. Nothing here throws.
#pragma once

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "os/clock.hpp"

namespace timeloom::record {

class WaitingClock {
 public:
  static constexpr std::uint64_t kGap = 100'000;  // nanoseconds

  explicit WaitingClock(pthread_t thread) noexcept
      : known_(pthread_getcpuclockid(thread, &clock_) == 0) {
    known_ = known_ && read(clock_, cpu_) && read(CLOCK_MONOTONIC, wall_);
    ticks_ = os::now();
  }

  // kGap in ticks: at first less, until the rate of the ticks is known.
  std::uint64_t gap() const noexcept { return gap_; }

  // The nanoseconds of the last `gap` ticks up to `now`, which was just read, in which the thread
  // waited.
  std::uint64_t waited(std::uint64_t gap, std::uint64_t now) noexcept {
    std::uint64_t wall = 0, cpu = 0;
    if (!known_ || now <= ticks_ || !read(clock_, cpu) || !read(CLOCK_MONOTONIC, wall)) return 0;
    // Not `now`: the thread may have been kept from running since.
    const std::uint64_t ticks = os::now();
    const std::uint64_t passed = wall - std::min(wall, wall_);
    const std::uint64_t ran = cpu - std::min(cpu, cpu_);
    const double rate = static_cast<double>(passed) / static_cast<double>(ticks - ticks_);
    const auto most = static_cast<std::uint64_t>(static_cast<double>(gap) * rate);
    if (rate > 0) gap_ = static_cast<std::uint64_t>(static_cast<double>(kGap) / rate);
    ticks_ = ticks;
    wall_ = wall;
    cpu_ = cpu;
    const std::uint64_t waiting = std::min(passed - std::min(ran, passed), most);
    // A thread that runs all the time has been kept from it by interrupts and by these readings.
    return waiting < kLeast ? 0 : waiting;
  }

 private:
  static constexpr std::uint64_t kLeast = 10'000;  // nanoseconds

  static bool read(clockid_t clock, std::uint64_t& nanoseconds) noexcept {
    timespec time{};
    if (clock_gettime(clock, &time) != 0) return false;
    nanoseconds = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
                  static_cast<std::uint64_t>(time.tv_nsec);
    return true;
  }

  clockid_t clock_{};
  bool known_;
  std::uint64_t ticks_ = 0;  // of the last reading
  std::uint64_t wall_ = 0;
  std::uint64_t cpu_ = 0;
  std::uint64_t gap_ = kGap;
};

}  // namespace timeloom::record
