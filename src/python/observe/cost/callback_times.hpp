// The times that callbacks of sys.monitoring, and the frame hook, take in the program itself.
//
// The cost of a callback depends on the program: the code that runs between two callbacks evicts
// the callback's own code from the caches and the branch predictors of the processor. So some
// callbacks in a row are timed whenever a thread takes new space for its events; all others pay
// nothing for it. On builds without a GIL no callback is timed. Plain functions that do not throw.
#pragma once

#include <array>
#include <cstdint>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// Callbacks that were timed; a call of the frame hook counts as two, as it has two events.
class CallbackTimes {
 public:
  // `calls` events, at least one, took so many ticks, with the reading of the clock.
  void add(int calls, std::uint64_t ticks) noexcept;
  std::uint64_t calls() const noexcept;
  // A few calls do not tell how long they take.
  bool enough() const noexcept { return calls() >= 100; }
  // The mean ticks of a call; 0: none was timed. Calls that took much longer than the median call
  // (32 times and more, some from 16 times on) do not count: an interrupt or another thread has
  // stopped them, and one such call among a thousand would double the mean.
  double mean() const noexcept;

 private:
  struct Class {
    std::uint64_t calls = 0;
    std::uint64_t ticks = 0;
  };
  // By the number of bits of the ticks of one call.
  std::array<Class, 65> classes_{};
};

// A callable for sys.monitoring that calls `function`: of a type with a vectorcall of its own, the
// cheapest there is. The same one for the same function, which lives as long as the process.
// nullptr: an exception is set. Needs the GIL. `timed`: it is one of those that may be timed.
PyObject* callback_for(vectorcallfunc function, bool timed);

// Times the next calls of callbacks that may be timed. Any thread; the frame hook, if it has the
// GIL.
void time_callbacks() noexcept;
// The same, without end.
void time_all_callbacks() noexcept;
void stop_timing_callbacks() noexcept;

// The frame hook: how it begins and ends to be timed; nullptr: it is not installed. Needs the GIL.
void time_frames_by(void (*function)(bool timed) noexcept) noexcept;
// Adds events that the frame hook has timed. Needs the GIL.
void note_timed_events(int events, std::uint64_t ticks) noexcept;

// The times since the last take_callback_times(). Needs the GIL.
CallbackTimes callback_times() noexcept;
// The same; later times start from zero. Needs the GIL.
CallbackTimes take_callback_times() noexcept;

}  // namespace timeloom::python
