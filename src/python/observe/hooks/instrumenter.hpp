// Instrumenters: they observe the interpreter and call the event path.
//
// All instrumenters produce the same stream of regions: an enter when a code
// object starts or resumes, a leave when it returns, yields or unwinds. Each is
// one file; the table is in instrumenter.cpp. Needs the GIL.
#pragma once

#include <cstdint>
#include <string>

#include "python/interpreter/compat.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// Observations besides calls of Python functions.
struct InstrumentOptions {
  bool c_functions = false;
  bool tasks = false;   // see tasks.hpp
  bool lanes = false;   // of tasks, see lanes.hpp
  bool budget = false;  // see budget.hpp; without the others
  // For one install(): the innermost frame of the program on the calling thread, where those inside
  // are Timeloom's own; nullptr: all of them are the program's. Borrowed.
  PyFrameObject* innermost = nullptr;
};

struct Instrumenter {
  const char* name;
  InstrumentOptions can;
  // Reports the leave of functions whose enter it did not see. Otherwise it notes the functions
  // that end while it is not installed (ThreadRecorder::leave_unrecorded()).
  bool reports_every_leave;
  // Both throw nothing; install returns false with a Python exception set.
  bool (*install)(const InstrumentOptions& what);
  // Stops observing; install() may follow again.
  void (*uninstall)();
  // The number of callbacks of this process that were ignored (lines, C functions).
  std::uint64_t (*ignored_callbacks)() = [] { return std::uint64_t{0}; };
  // Pauses it, or lets it go on, while it is installed or not: it then sees no calls that begin,
  // but the ends of those that it has seen begin. None: it throttles single functions for a budget.
  void (*pause)(bool paused) noexcept = nullptr;
  // The interpreter's part of an event, which cannot be timed, relative to the callback's part
  // (callback_times.hpp).
  double interpreter_part = 0;
};

extern const Instrumenter kMonitoring;  // monitoring.cpp
extern const Instrumenter kFrame;       // frame.cpp
extern const Instrumenter kProfile;     // legacy.cpp
extern const Instrumenter kTrace;       // legacy.cpp
extern const Instrumenter kDummy;       // instrumenter.cpp

// Whether it records calls.
bool observes_calls(const Instrumenter& instrumenter) noexcept;

// The choices of the settings.
InstrumentOptions instrument_options(const Settings& settings);
// The instrumenter that the settings name; "auto" chooses. Throws Error if this Python lacks it, or
// if it cannot observe as the settings ask.
const Instrumenter& instrumenter_of(const Settings& settings);
// Runs the Python code that a start with these settings runs, for which other threads may run.
// Throws Error as above.
void run_code_of_start(const Settings& settings);
// The functions whose calls are missing with `used`, since the interpreter does not ask the frame
// hook for them: "__getitem__". Empty: none is.
std::string missing_calls(const Instrumenter& used);
// One line where the interpreter does not ask the frame hook for every call: which calls are
// missing with `used`, or that it is used for that reason.
void print_calls_kept_from_hook(const Settings& settings, const Instrumenter& used);

}  // namespace timeloom::python
