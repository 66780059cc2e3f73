// Finds for what threads of this process wait, as the kernel shows it in /proc/self/task. No hook,
// signal or permission is needed, and the thread does not notice it. Used by one thread at a time,
// in the same process. Nothing throws, and no descriptor stays open.
#pragma once

#include <time.h>

#include <cstdint>

namespace timeloom::os {

// The kinds of waiting, numbered as in the files of spools.
enum class WaitKind : std::uint8_t {
  kRunning = 0,    // on a processor, or ready for one
  kFutex = 1,      // a lock, semaphore or condition of this process; `word`: its address
  kShared = 2,     // the same, shared with other processes
  kThreadEnd = 3,  // the end of a thread of this process
  kProcess = 4,    // another process: its end, or data in a pipe
  kFile = 5,       // a file, a terminal, a disk
  kSocket = 6,     // data from or to a socket
  kTime = 7,       // a moment
  kOther = 8,      // another system call; `word`: its number
  kHidden = 9,     // the system does not tell
  kNone = 10       // there is no such thread
};

struct ThreadWait {
  WaitKind kind = WaitKind::kNone;
  std::uint64_t word = 0;
  bool operator==(const ThreadWait&) const = default;
};

// `thread`: its id of the kernel.
ThreadWait thread_wait(std::uint64_t thread) noexcept;

// Nanoseconds since its start in which the thread was ready and had no processor. False: unknown.
bool run_delay(std::uint64_t thread, std::uint64_t& nanoseconds) noexcept;

// The kernel's id of the thread whose CPU clock this is.
std::uint64_t thread_of_clock(clockid_t clock) noexcept;

// Threads that run or are ready, of the whole machine, and the processors that this process may
// use. False: unknown.
bool machine_load(std::uint32_t& runnable, std::uint32_t& processors) noexcept;

}  // namespace timeloom::os
