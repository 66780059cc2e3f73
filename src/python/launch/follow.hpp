// Child processes of the measured program: how they learn that they are to be
// measured, too, and into which run.
//
// A forked child goes on by itself (continue_after_fork() in session.hpp). Every
// other Python is found by the variable TIMELOOM_PARENT, which names the spool of
// the process that started it: at its start, timeloom.pth in site-packages calls
// timeloom_follow.follow(), which decides and calls follow() here. Settings lie beside the
// spools: settings/inheritance.hpp.
//
// All functions need the GIL.
#pragma once

#include <string>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// Sets a variable of the environment for all processes that this one starts. False with a Python
// exception set.
bool set_for_children(const char* variable, const std::string& value);

// Announces the running session to children of this process. If that fails they are not measured.
void announce_to_children() noexcept;
// Called when the measurement of this process has ended: children that it starts from now on are
// not measured.
void withdraw_from_children() noexcept;

// Called before a fork of this process, and in the child after it.
void prepare_fork(PyObject* core) noexcept;
void follow_fork() noexcept;
// In the child, when all other handlers of the fork have run.
void end_fork_handlers() noexcept;
// Called at the end of a process that a measured one has started: the last look for the name that
// an engine has given it.
void look_for_name_at_end() noexcept;
// Called in both processes: Timeloom's own threads run again when the handlers of the fork have
// run.
void resume_helpers_soon() noexcept;

extern PyMethodDef kFollowMethods[];  // ends with a null entry

}  // namespace timeloom::python
