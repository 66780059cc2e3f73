// Reads the CPU clocks of threads whose waiting is measured, from time to time, into the head of
// the ring.
//
// A thread reads its own CPU clock when an event ends a gap. If a thread never records again, it
// would not be known whether it worked or waited; so the drain reads the clocks of all threads, and
// the mapped file keeps its readings, however the process ends. A thread stores its own last
// reading with plain stores.
//
// Owned by spool::Writer. Any thread may call these functions; nothing throws.
#pragma once

#include <time.h>

#include <mutex>
#include <vector>

#include "spool/spool_format.hpp"
#include "spool/waits/wait_watch.hpp"

namespace timeloom::spool {

// `ticks` is stored first (0) and last: a reader, or a kill, between the stores finds no reading.
inline void put_reading(ClockReading& place, std::uint64_t ticks, std::uint64_t wall,
                        std::uint64_t cpu) noexcept {
  place.ticks.store(0, std::memory_order_relaxed);
  place.wall.store(wall, std::memory_order_release);
  place.cpu.store(cpu, std::memory_order_release);
  place.ticks.store(ticks, std::memory_order_release);
}

class ClockWatch {
 public:
  // `ring`: the mapped head of the ring, which is zero.
  void use(std::byte* ring) noexcept { ring_ = ring; }

  // A place for the clocks of a thread, whose CPU clock is `clock`, until remove(); nullptr: all
  // places are taken, or memory has run out.
  ThreadClocks* add(std::uint32_t location, clockid_t clock) noexcept;
  void remove(ThreadClocks* place) noexcept;
  // Reads the clocks of all threads. The readings of a thread that has ended stay as they are from
  // then on, since its id may soon be another thread's.
  void look() noexcept;

  // The watch for the causes of waiting of the same threads, which add() and remove() tell it.
  WaitWatch& waits() noexcept { return waits_; }

 private:
  struct Watched {
    ThreadClocks* place;
    clockid_t clock;
  };
  std::byte* ring_ = nullptr;
  WaitWatch waits_;
  std::mutex mutex_;  // guards what follows
  std::vector<Watched> watched_;
  std::vector<ThreadClocks*> free_;
  std::size_t used_ = 0;  // places that have had a thread
};

}  // namespace timeloom::spool
