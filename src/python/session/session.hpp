// The measurement of a Python program: recorder, instrumenter and filter together. All functions
// need the GIL or, on builds without one, an attached thread state. Functions that can fail return
// false with a Python exception set.
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

// The inputs of a measurement other than its settings.
struct SessionContext {
  std::string run;       // the run directory
  os::DirectoryId id{};  // its directory, if that is known
  std::string spools{};  // the place of the spools in it; empty: RUN/spool
  ProgramFacts program;  // equal in all processes of the program
  std::string parent{};  // name of the spool of the process that started this one; or empty
  std::optional<std::uint32_t> rank{};  // of this process in the job of a launcher
  bool rank_of_mpi = true;              // the launcher is one of MPI's
  // CPU time of the process when a launcher began to prepare it; empty: the process measures a part
  // of itself, from start_session() on.
  std::optional<std::uint64_t> launched_cpu_ns{};
  // True if the open calls are entered at the start, from the given frame outwards on the calling
  // thread (borrowed while the session starts; nullptr: none).
  bool enters_open_calls = false;
  PyFrameObject* innermost = nullptr;
};

// The directory of Timeloom's Python package; its files are never recorded.
std::string own_directory();

// REQUIRES: settings that check() and check_session() accept; the session keeps them.
bool start_session(const Settings& settings, const SessionContext& context);
// From here on, observes with other filters and names. REQUIRES: as start_session().
bool change_session(const Settings& settings);
// Stops observing, and leaves the records as if the process had been killed. Makes as few system
// calls as possible.
void leave_session();
// False without an exception when no measurement of this process is running. `ending`: the event
// that is about to end the process. With it, and in the child of a measured process, nothing is
// calibrated.
bool finish_session(SessionResult& result, Ending ending = {});
bool session_running() noexcept;
// True if a session runs only because the parent of this process is measured.
bool session_followed() noexcept;
// Fills in the known results of a running session; false when there is none.
bool session_so_far(SessionResult& result);
// The spool of the running session, RUN/spool/NAME; empty: none is running.
std::string session_spool();
// The directory in which the spool lies. REQUIRES: a running session.
KnownDirectory session_spools();
// The directory of its run. REQUIRES: a running session.
KnownDirectory session_run();
// The settings and facts for child processes. REQUIRES: a running session.
Inheritance session_inheritance();

// Switch the automatic instrumentation, which user regions do not depend on. No effect if it is
// already in that state.
bool pause_instrumentation();
bool resume_instrumentation();
bool instrumentation_on() noexcept;
bool instrumentation_paused() noexcept;

// Switches all recording.
bool set_recording(bool on);

// Called in the child of a fork, where recorder and spool are gone: continues with a new spool in
// the same run, or removes the hooks. False: the setting `workers` leaves the child out.
bool continue_after_fork() noexcept;

}  // namespace timeloom::python
