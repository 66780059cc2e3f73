// A lock of the account of memory. Nothing is allocated or thrown; errno may change.
#pragma once

#include <sched.h>

#include <atomic>
#include <ctime>

namespace timeloom::preload {

// Taken for a few instructions only, by threads that are inside the account.
class SpinLock {
 public:
  // After some turns it sleeps: a thread of a higher priority never yields to the owner.
  void lock() noexcept {
    constexpr timespec kAWhile = {0, 50'000};
    for (int turn = 0; locked_.exchange(true, std::memory_order_acquire); ++turn) {
      turn < 100 ? ::sched_yield() : ::nanosleep(&kAWhile, nullptr);
    }
  }
  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_ = false;
};

}  // namespace timeloom::preload
