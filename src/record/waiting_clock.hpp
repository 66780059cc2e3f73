// How long a thread waits: wall time less the time in which it ran on a processor.
//
// Both clocks are read only at the end of a gap: a time in which nothing was recorded for longer
// than kGap. Between two gaps the thread worked, or waited for less than kGap at once; so its
// waiting since the gap before counts for this one, up to the length of the gap. A reading may come
// late: the thread was kept from running after the event that ended the gap, or it waited in a call
// that is recorded afterwards. Its waiting after that event belongs to the next gap.
//
// Made while its thread runs. waited() may be called by another one, when that thread does not
// record; once the thread has ended it returns 0. Nothing here throws.
#pragma once

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "os/clock.hpp"
#include "spool/clock_watch.hpp"

namespace timeloom::record {

class WaitingClock {
 public:
  static constexpr std::uint64_t kGap = 100'000;  // nanoseconds

  explicit WaitingClock(pthread_t thread) noexcept
      : known_(pthread_getcpuclockid(thread, &clock_) == 0) {
    known_ = known_ && read(clock_, cpu_) && read(CLOCK_MONOTONIC, wall_);
    ticks_ = os::now();
    first_wall_ = wall_;
    first_ticks_ = ticks_;
  }

  // From here on the reading at the end of the last gap is noted where others find it.
  void note_in(spool::ClockWatch& watch, std::uint32_t location) noexcept {
    place_ = known_ ? watch.add(location, clock_) : nullptr;
    note();
  }
  // nullptr: there was none.
  spool::ThreadClocks* place() const noexcept { return place_; }

  // kGap in ticks: at first less, until the rate of the ticks is known.
  std::uint64_t gap() const noexcept { return gap_; }

  // The nanoseconds of the last `gap` ticks up to `now` in which the thread waited. `now`: a time
  // of this thread, not before the time of the last call.
  std::uint64_t waited(std::uint64_t gap, std::uint64_t now) noexcept {
    std::uint64_t wall = 0, cpu = 0;
    if (!known_ || now <= ticks_ || !read(clock_, cpu) || !read(CLOCK_MONOTONIC, wall)) return 0;
    const std::uint64_t ticks = os::now();
    if (ticks <= first_ticks_) return 0;
    // Since the first reading, so that a thread that was stopped between two clocks matters less
    // and less.
    const double rate = static_cast<double>(wall - std::min(wall, first_wall_)) /
                        static_cast<double>(ticks - first_ticks_);
    if (rate <= 0) return 0;
    gap_ = static_cast<std::uint64_t>(static_cast<double>(kGap) / rate);
    const std::uint64_t passed = wall - std::min(wall, wall_);
    const std::uint64_t ran = std::min(cpu - std::min(cpu, cpu_), passed);
    const std::uint64_t since =
        std::min(in_nanoseconds(ticks - std::min(now, ticks), rate), passed);
    const std::uint64_t waited_since = std::min(passed - ran, since);
    // The clocks as they stood at `now`.
    ticks_ = now;
    wall_ = wall - since;
    cpu_ = cpu - (since - waited_since);
    note();
    const std::uint64_t waiting = std::min(passed - ran - waited_since, in_nanoseconds(gap, rate));
    // A thread that runs all the time has been kept from it by interrupts and by these readings.
    return waiting < kLeast ? 0 : waiting;
  }

 private:
  void note() noexcept {
    if (place_ != nullptr) spool::put_reading(place_->at_event, ticks_, wall_, cpu_);
  }

  static constexpr std::uint64_t kLeast = 10'000;  // nanoseconds

  static std::uint64_t in_nanoseconds(std::uint64_t ticks, double rate) noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * rate);
  }
  static bool read(clockid_t clock, std::uint64_t& nanoseconds) noexcept {
    timespec time{};
    if (clock_gettime(clock, &time) != 0) return false;
    nanoseconds = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
                  static_cast<std::uint64_t>(time.tv_nsec);
    return true;
  }

  clockid_t clock_{};
  bool known_;
  std::uint64_t first_wall_ = 0;
  std::uint64_t first_ticks_ = 0;
  std::uint64_t ticks_ = 0;  // at the end of the last gap
  std::uint64_t wall_ = 0;
  std::uint64_t cpu_ = 0;
  std::uint64_t gap_ = kGap;
  spool::ThreadClocks* place_ = nullptr;
};

}  // namespace timeloom::record
