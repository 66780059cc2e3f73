// Account of the CPU time of this process: of its recorded threads since the measurement began, and
// of the whole process.
//
// Owned by the state of the measurement, whose mutex guards it. Nothing throws.
#pragma once

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "core/cpu_times.hpp"
#include "os/process.hpp"

namespace timeloom::record {

// The CPU time of a thread from the moment on at which it took part.
class ThreadCpu {
 public:
  // REQUIRES: the thread runs.
  explicit ThreadCpu(pthread_t thread) noexcept {
    known_ = pthread_getcpuclockid(thread, &clock_) == 0;
    before_ = now();
  }
  // The CPU time before that moment, in nanoseconds.
  std::uint64_t before() const noexcept { return before_; }
  // Nanoseconds; 0 where the thread has ended.
  std::uint64_t passed() const noexcept {
    const std::uint64_t all = now();
    return all - std::min(all, before_);
  }

 private:
  std::uint64_t now() const noexcept {
    timespec time{};
    if (!known_ || clock_gettime(clock_, &time) != 0) return 0;
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
  }

  clockid_t clock_{};
  bool known_ = false;
  std::uint64_t before_ = 0;
};

class CpuAccount {
 public:
  void begin() noexcept {
    begin_ = os::process_cpu_ns();
    ended_ = 0;
  }
  // Adds the time of a thread that ends, or takes part no longer.
  void add_ended(const ThreadCpu& thread) noexcept { ended_ += thread.passed(); }
  // `threads`: the threads that take part now, with a member `cpu`; `own`: nanoseconds of
  // Timeloom's threads.
  template <typename Threads>
  CpuTimes times(const Threads& threads, std::uint64_t own) const noexcept {
    const std::uint64_t all = os::process_cpu_ns();  // first, so that no thread has more
    const std::uint64_t taken = all - std::min(all, begin_);
    const std::uint64_t process = taken - std::min(taken, own);
    std::uint64_t recorded = ended_;
    for (const auto& thread : threads) recorded += thread.cpu.passed();
    return {process, process - std::min(process, recorded)};
  }

 private:
  std::uint64_t begin_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace timeloom::record
