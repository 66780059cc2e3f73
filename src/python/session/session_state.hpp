// The session of the process, for the files of this folder: its state, and whether the program is
// observed at the moment. Functions need the GIL or, on builds without one, an attached thread
// state.
#pragma once

#include <cstdint>
#include <string>

#include "python/session/session.hpp"
#include "python/session/session_cost.hpp"
#include "python/session/session_plan.hpp"
#include "python/session/session_window.hpp"

namespace timeloom::python {

struct Session {
  bool started = false;
  Settings settings;
  SessionContext context;
  SessionPlan plan;
  bool paused = false;  // the user switched the automatic instrumentation off
  std::uint64_t start_ns = 0;
  SessionCpuTimes cpu;
  std::uint64_t process = 0;  // a forked child does not own its parent's session
  bool finishing = false;     // other threads may run during calibration
  std::string spool;          // its directory
  std::uint64_t ignored_before = 0;
  std::uint64_t left_out_before = 0;
};
extern Session g_session;  // changes with the control lock, and in a critical section

std::uint64_t this_process_id() noexcept;
// session_running(). REQUIRES: a critical section.
bool session_runs() noexcept;
// The directory of the run's spools, also where the session is the parent's. REQUIRES: the same.
KnownDirectory spools_of_session();

// Whether the instrumenter is installed.
bool watching_session() noexcept;
// Notes that it is installed now, or that it is not. REQUIRES: the control lock, as for all
// functions that follow.
void set_watching(bool on) noexcept;
// Installs the instrumenter, or takes it off. False: a Python exception is set.
bool watch(bool on);
// Installs it after a pause. The program continues if it cannot be observed any more.
void watch_again();
// Switches the recorder. Returns true if the state changed.
bool switch_recording(bool on) noexcept;

extern const WindowActions kSessionWindows;

}  // namespace timeloom::python
