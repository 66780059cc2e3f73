// The measurement of a Python program: recorder, instrumenter and filter
// together. All functions need the GIL, or on builds without one an attached thread
// state; those that can fail return false with a Python exception set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/ending.hpp"
#include "core/measuring_cost.hpp"
#include "python/interpreter/compat.hpp"
#include "settings/inheritance.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// The inputs of a measurement besides its settings.
struct SessionContext {
  std::string run;       // the run directory; made if it is not there
  std::string spools{};  // where in it the spools go; empty: into RUN/spool
  ProgramFacts program;  // the same for all processes of the program
  std::string parent{};  // name of the spool of the process that started this one; or empty
  std::optional<std::uint32_t> rank{};  // of this process in the job of a launcher
  // CPU time of the process when a launcher began to prepare it; none: it measures a part of
  // itself, from start_session() on.
  std::optional<std::uint64_t> launched_cpu_ns{};
};

struct SessionResult {
  std::string run;
  std::string instrumenter;
  std::uint64_t events = 0;
  std::uint64_t folded_events = 0;  // of these: only call paths have been kept of them
  bool profile = false;             // that is so of all
  std::uint64_t threads = 0;
  std::uint64_t tasks = 0;  // of threads, and greenlets, as tracks of their own
  std::uint64_t bytes = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t dropped_events = 0;
  bool at_limit = false;      // of size; see record::Totals
  std::string window;         // what was asked for; empty: everything
  std::uint64_t windows = 0;  // how often it came
  std::uint64_t unmatched_leaves = 0;
  std::uint64_t given_up = 0;            // functions that are not timed to the end, see budget.hpp
  std::optional<double> observed_share;  // of the CPU time, see rest.hpp; none: all of it
  int error = 0;                         // errno value of the first failed write
  double wall_seconds = 0;
  ProcessCost cost;  // of measuring; its `event` is 0 where it could not be calibrated
  Shares overhead;   // zeros: not known
};

// The directory of our Python package; its files are never recorded.
std::string own_directory();

// REQUIRES: settings that check() and check_session() accept. From here on they are the session's.
bool start_session(const Settings& settings, const SessionContext& context);
// Observes by other filters and names from here on. REQUIRES: as start_session().
bool change_session(const Settings& settings);
// False without an exception when no measurement of this process is running.
// `ending`: what is about to end the process; then, and in the child of a measured
// process, nothing is calibrated.
bool finish_session(SessionResult& result, Ending ending = {});
bool session_running() noexcept;
// Whether the one that runs is there only because the parent of this process is measured.
bool session_followed() noexcept;
// Fills what is known of a running session so far; false when there is none.
bool session_so_far(SessionResult& result);
// The spool of the running session, RUN/spool/NAME; empty: none runs.
std::string session_spool();
// The settings and facts for processes that this one starts. REQUIRES: a running session.
Inheritance session_inheritance();

// The automatic instrumentation, which user regions do not depend on. They
// change nothing when it is already so.
bool pause_instrumentation();
bool resume_instrumentation();
bool instrumentation_on() noexcept;
bool instrumentation_paused() noexcept;

// All recording.
bool set_recording(bool on);

// In the child of a fork, where recorder and spool are gone: goes on with a spool
// of its own in the same run, or removes the hooks.
void continue_after_fork() noexcept;

}  // namespace timeloom::python
