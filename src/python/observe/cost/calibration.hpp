// The cost of one event on this machine at this time.
#pragma once

#include "python/observe/cost/callback_times.hpp"
#include "python/observe/hooks/instrumenter.hpp"

namespace timeloom::python {

struct EventCost {
  double event_seconds = 0;
  double inside_seconds = 0;    // of a call, by which its enter and leave lie further apart
  double ignored_seconds = 0;   // of a callback that records nothing
  double function_seconds = 0;  // the interpreter's part when a function is first called
  double callback_ticks = 0;    // of a callback that is timed; 0: callbacks are not timed
  double quick_seconds = 0;     // of an event whose callback takes so long; see slowed()
  double seconds_per_tick = 0;  // by which it takes longer for each tick more
  double tick_seconds = 0;
  std::uint64_t timed_callbacks = 0;  // in the program; see slowed()
};

// Times a program of many kinds of calls (functions, methods, constructors, generators, calls by C
// functions) with and without the instrumenter, by turns, since a machine changes its speed within
// milliseconds: the medians of the differences count, of the shortest runs of each turn, since an
// interrupted run takes longer. The instrumenter must not be installed and is not afterwards; the
// events go to scratch memory. A cost that cannot be measured is 0. `events`: the number of events
// that the cost is for; for a few thousand, one turn is exact enough. An exception that a signal
// handler raises meanwhile is raised again as soon as Python code runs. Needs the GIL and a
// recorder on this thread.
EventCost calibrate_events(const Instrumenter& instrumenter, std::uint64_t events) noexcept;

// The cost in a program whose callbacks took the time `in_program`, and in which sampling metrics
// takes `sample_seconds` for each event; `cost`: without both.
EventCost slowed(EventCost cost, const CallbackTimes& in_program, const Instrumenter& instrumenter,
                 double sample_seconds) noexcept;

}  // namespace timeloom::python
