// Helper threads inside the measured process, ids of threads, cancellation, and hooks on fork.
// Nothing throws.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace timeloom::os {

// The kernel's id of the calling thread, and of this process.
std::uint64_t thread_id() noexcept;
std::uint64_t process_id() noexcept;

// While an object lives, pthread_cancel() does not end the calling thread: cancellation would
// unwind the stack through noexcept functions.
class NotCancelled {
 public:
  NotCancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancelled() { pthread_setcancelstate(before_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Sets the function that every helper thread calls first, from now on; nullptr: none.
void on_begin_of_helpers(void (*function)() noexcept) noexcept;

// A thread that the user's program does not notice: all signals are blocked, the stack is
// small, and it has a name of its own. Call join() before destruction, or abandon() in a
// child that was forked meanwhile.
class HelperThread {
 public:
  // Returns an errno value, 0 on success.
  int start(const char* name, std::function<void()> body, std::size_t stack = 256 * 1024) noexcept;
  bool running() const noexcept { return running_; }
  // Returns when the kernel has removed the thread as well.
  void join() noexcept;
  void abandon() noexcept { running_ = false; }
  // The thread calls this itself, as its last act, if nobody joins it. REQUIRES: start() has
  // returned.
  void detach() noexcept;

 private:
  pthread_t thread_{};
  std::atomic<std::uint64_t> id_ = 0;  // of the kernel
  std::atomic<bool> running_ = false;
};

// Calls `child` in the child of every later fork of this process, in the only
// thread that exists there.
void at_fork_in_child(void (*child)()) noexcept;
// Also calls `prepare` before each of them, and `parent` after it in the process that
// has forked, both on the thread that forks.
void at_fork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept;

}  // namespace timeloom::os
