// The measurement of a Python program: recorder, instrumenter and filter
// together. All functions need the GIL, or on builds without one an attached thread
// state; those that can fail return false with a Python exception set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/ending.hpp"
#include "core/known_directory.hpp"
#include "python/interpreter/compat.hpp"
#include "python/session/session_result.hpp"
#include "settings/inheritance.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// The inputs of a measurement besides its settings.
struct SessionContext {
  std::string run;       // the run directory
  os::DirectoryId id{};  // what it is, if that is known
  std::string spools{};  // where in it the spools go; empty: into RUN/spool
  ProgramFacts program;  // the same for all processes of the program
  std::string parent{};  // name of the spool of the process that started this one; or empty
  std::optional<std::uint32_t> rank{};  // of this process in the job of a launcher
  bool rank_of_mpi = true;              // the launcher is one of MPI's
  // CPU time of the process when a launcher began to prepare it; none: it measures a part of
  // itself, from start_session() on.
  std::optional<std::uint64_t> launched_cpu_ns{};
  // The calls that run are entered at the begin, from this one outwards on the calling thread
  // (borrowed, while the session starts; nullptr: there is none).
  bool enters_open_calls = false;
  PyFrameObject* innermost = nullptr;
};

// The directory of our Python package; its files are never recorded.
std::string own_directory();

// REQUIRES: settings that check() and check_session() accept. From here on they are the session's.
bool start_session(const Settings& settings, const SessionContext& context);
// Observes by other filters and names from here on. REQUIRES: as start_session().
bool change_session(const Settings& settings);
// Observes nothing from here on, and leaves what is recorded as that of a process that was killed.
// Makes as few system calls as can be.
void leave_session();
// False without an exception when no measurement of this process is running.
// `ending`: what is about to end the process; then, and in the child of a measured
// process, nothing is calibrated.
bool finish_session(SessionResult& result, Ending ending = {});
bool session_running() noexcept;
// Whether a session runs for no other reason than that the parent of this process is measured.
bool session_followed() noexcept;
// Fills what is known of a running session so far; false when there is none.
bool session_so_far(SessionResult& result);
// The spool of the running session, RUN/spool/NAME; empty: none runs.
std::string session_spool();
// The directory of its run. REQUIRES: a running session.
KnownDirectory session_run();
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
