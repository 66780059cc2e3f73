// A mutex that can tell whether the calling thread has it: for code that may run while its own
// thread is anywhere, such as inside an allocation of memory.
//
// Like std::mutex in every other way; any thread. Nothing throws.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace timeloom::os {

class OwnedMutex {
 public:
  void lock() noexcept { mutex_.lock(), owner_.store(pthread_self(), std::memory_order_relaxed); }
  bool try_lock() noexcept {
    const bool locked = mutex_.try_lock();
    if (locked) owner_.store(pthread_self(), std::memory_order_relaxed);
    return locked;
  }
  void unlock() noexcept { owner_.store({}, std::memory_order_relaxed), mutex_.unlock(); }
  bool is_mine() const noexcept { return owner_.load(std::memory_order_relaxed) == pthread_self(); }

 private:
  std::mutex mutex_;
  std::atomic<pthread_t> owner_{};
};

}  // namespace timeloom::os
