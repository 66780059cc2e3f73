// The call paths of threads, one object a thread, in memory that no allocator gives.
//
// Any thread; functions throw nothing, and allocate by mmap() alone.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <mutex>
#include <new>

#include "preload/memory/spin_lock.hpp"
#include "preload/memory/thread_paths.hpp"

namespace timeloom::preload {

// Threads that come later take over the objects of threads that have ended.
class PathsOfThreads {
 public:
  // `lock`: of the account, which a forked child makes anew.
  constexpr explicit PathsOfThreads(SpinLock& lock) noexcept : lock_(lock) {}
  // nullptr: memory ran out.
  ThreadPaths* take() noexcept {
    {
      const std::lock_guard lock(lock_);
      if (free_count_ > 0) return free_[--free_count_];
    }
    void* const memory = ::mmap(nullptr, sizeof(ThreadPaths), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : new (memory) ThreadPaths;
  }
  void give_back(ThreadPaths* paths) noexcept {
    const std::lock_guard lock(lock_);
    if (free_count_ < kMost) free_[free_count_++] = paths;
  }

 private:
  SpinLock& lock_;
  static constexpr std::size_t kMost = 4096;
  ThreadPaths* free_[kMost] = {};
  std::size_t free_count_ = 0;
};

}  // namespace timeloom::preload
