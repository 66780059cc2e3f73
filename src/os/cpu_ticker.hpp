// A signal to a thread after each period of its own CPU time: a software event of the kernel (perf)
// where that is allowed, else a timer on the clock of the thread. Neither counts while the thread
// waits. The event is exact to the period; the timer is checked when the kernel ticks, 100 to 1,000
// times a second. A period that ends in the kernel has its signal when the system call returns.
// Where an event may count in user space only, it has no signal for such a period, and a timer runs
// beside it.
//
// One thread at a time calls the functions of an object: the one that gets the signals, or another
// one of its process. Nothing throws; errors are errno values (0: success).
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace timeloom::os {

class CpuTicker {
 public:
  // kUserEvent: an event for user space alone, with a timer beside it where one can be had.
  enum class Source : std::uint8_t { kNone, kEvent, kUserEvent, kTimer };

  CpuTicker() noexcept = default;
  ~CpuTicker() { stop(); }
  CpuTicker(const CpuTicker&) = delete;
  CpuTicker& operator=(const CpuTicker&) = delete;

  // Starts to send `signal` to the thread of this process with that id of the kernel. At most a
  // quarter of the descriptors that the process may have are used for events; the threads beyond
  // have timers.
  int start(int signal, std::uint64_t period_ns, std::uint64_t thread) noexcept;
  void stop() noexcept;
  // Whether the program has closed the descriptor of the event, so that no more signals come from
  // it. start() and stop() are not called meanwhile.
  bool has_lost_event() const noexcept;
  // A timer in place of a lost event. Any thread of the process, as above.
  int replace_lost_event(int signal, std::uint64_t period_ns) noexcept;
  // In a forked child, which has the descriptor of its parent's event, and not its timer.
  void forget() noexcept;
  // Makes no call of the system; the signals go on. For a process that may have forbidden itself
  // the calls that stop() makes.
  void abandon() noexcept { source_ = Source::kNone; }
  Source source() const noexcept { return source_.load(std::memory_order_relaxed); }

 private:
  int start_event(int signal, std::uint64_t period_ns) noexcept;
  int start_timer(int signal, std::uint64_t period_ns) noexcept;
  void stop_timer() noexcept;
  bool owns_descriptor() const noexcept;

  std::atomic<Source> source_ = Source::kNone;
  std::uint64_t thread_ = 0;  // that gets the signals
  int descriptor_ = -1;
  std::uint64_t event_ = 0;      // the kernel's id of it: the program may close the descriptor
  bool for_user_space_ = false;  // the event alone
  bool has_timer_ = false;
  timer_t timer_{};
};

// The handler of the signal: gets the address of the interrupted instruction, and whether a timer
// has sent the signal.
using TickHandler = void (*)(std::uintptr_t address, bool by_timer) noexcept;

// Whether no action is set for the signal, or the one of take_tick_signal().
bool is_free_for_ticks(int signal) noexcept;
// Whether `signal` is free, and is handled by `handler` from here on: on the
// alternative stack if there is one, with errno kept and system calls restarted. Signals that no
// ticker has sent are ignored. It should be a signal that is ignored by default (SIGURG, SIGWINCH):
// a tick after the program has reset it, or after an exec, ends nothing.
bool take_tick_signal(int signal, TickHandler handler) noexcept;
// Whether the signal still has that handler.
bool has_tick_handler(int signal) noexcept;
// Takes away a tick that waits since the calling thread has blocked its signal. A signal that no
// ticker has sent stays.
void take_pending_tick(int signal) noexcept;
// Restores the default action, unless the program has set another one.
void give_back_tick_signal(int signal) noexcept;

}  // namespace timeloom::os
