// For recorders beside the threads' own, each with its own file in the spool: work of GPUs
// (src/gpu), and samples of threads (src/sample). Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/known_directory.hpp"

namespace timeloom::record {

class ThreadRecorder;

// The spool of the running measurement; an empty path: none runs. Throws std::bad_alloc.
KnownDirectory running_spool();

// The limit of the bytes that the run takes on disk (--max-size); 0: none.
std::uint64_t most_bytes();

// Whether the records of the run are packed while it runs (--pack-early, --max-size).
bool packs_early();

// Counts events of the running measurement that could not be kept in the file.
void count_lost(std::uint64_t events) noexcept;

// Sets the function that stop() calls first, on its thread and while the measurement runs, so that
// the file is complete when it ends; nullptr: none. Nothing is held meanwhile.
void before_stop(void (*function)() noexcept) noexcept;
// The same for the moment before another program takes the place of this one (execv), which may
// fail: the measurement goes on then.
void before_exec(void (*function)() noexcept) noexcept;

struct ThreadHooks {
  // The calling thread records with it from here on. The mutex of the measurement is held: nothing
  // of measurement.hpp may be called.
  void (*begins)(ThreadRecorder& recorder) noexcept;
  // The calling thread ends; its recorder is destroyed next.
  void (*ends)() noexcept;
  // Called from time to time while a measurement runs (after 10 ms, 100 ms, then each second), by a
  // thread of Timeloom. It must not wait for that mutex, whose owner may wait for this thread.
  void (*looks)() noexcept;
};

// Sets the hooks for the rest of the process; they must stay.
void set_thread_hooks(const ThreadHooks& hooks) noexcept;

namespace detail {
extern constinit std::atomic<const ThreadHooks*> g_thread_hooks;  // nullptr: there are none
}  // namespace detail

}  // namespace timeloom::record
