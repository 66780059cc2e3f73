// Looks at threads that do not run, every few milliseconds, and writes for what they wait into the
// file `waits` of the spool.
//
// A look reads the CPU clock of each thread. One that has run nearly all the time since the look
// before is left alone, and one that has not run at all still waits for the same; of the others,
// eight at most in a look, it reads from /proc what they wait for, and how long they had no free
// processor. Looks become rarer when they take more than a small share of a processor.
//
// Owned by ClockWatch. Any thread may call these functions; nothing throws.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/known_directory.hpp"
#include "os/call_filters.hpp"
#include "os/thread_wait.hpp"
#include "spool/waits/wait_writer.hpp"

namespace timeloom::spool {

struct WaitOptions {
  bool on = false;
  // The addresses of the words of the interpreter's lock; equal: not known.
  std::uint64_t gil_from = 0, gil_to = 0;
  bool pack = false;  // see WaitWriter::create()
};

class WaitWatch {
 public:
  void begin(const KnownDirectory& spool, const WaitOptions& options) noexcept;
  bool on() const noexcept { return writer_.has_value(); }

  void add(std::uint32_t location, clockid_t clock) noexcept;
  void remove(std::uint32_t location) noexcept;
  // A thread in profile mode has waited. Its call paths have no times by which its looks would be
  // found later. Does nothing where nobody looks.
  void add_gap(std::uint32_t location, std::uint64_t from, std::uint64_t to,
               const WaitGap& gap) noexcept;
  // Returns the pause until the next look.
  std::chrono::microseconds look() noexcept;
  // Writes the looks so far: once in a second, and at the end.
  void flush() noexcept;
  // In a forked child: the file is the parent's.
  void abandon() noexcept;

 private:
  struct Watched {
    std::uint32_t location;
    clockid_t clock;
    std::uint64_t thread;
    std::uint64_t cpu = 0, wall = 0;        // at the last look
    std::uint64_t delay = 0, delay_at = 0;  // at the last reading: nanoseconds, ticks; 0: none
    os::ThreadWait wait{};
    WaitSpan span{};  // of looks that have found `wait`; no looks: none
  };
  struct Look {
    std::uint64_t ticks, wall;
    unsigned reads;  // of /proc, that are left
  };

  // False: the thread has ended.
  bool look_at(Watched& one, Look& look);
  bool read_wait(Watched& one, const Look& look);
  void read_delay(Watched& one, std::uint64_t ticks);
  void end_span(Watched& one);
  void hide();
  void take_gaps();

  std::mutex gaps_mutex_;       // guards the gaps; taken last, and held for a moment
  std::vector<WaitSpan> gaps_;  // has room, so that nothing is allocated under the mutex
  std::atomic<bool> on_ = false;
  std::mutex mutex_;  // guards what follows
  std::optional<WaitWriter> writer_;
  os::CallFilters filters_;           // a look makes calls that one may forbid
  std::vector<WaitSpan> taken_gaps_;  // exchanged with gaps_, for the room
  std::vector<Watched> watched_;
  std::size_t next_ = 0;     // the thread at which the next look begins
  bool hidden_ = false;      // the kernel does not tell for what threads wait
  bool quiet_ = false;       // no thread ran between the last two looks
  std::uint64_t pause_ = 0;  // microseconds, that the last look returned
  std::uint64_t cost_ = 0;   // nanoseconds of CPU time, a mean of the last looks
};

}  // namespace timeloom::spool
