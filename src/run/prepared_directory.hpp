// A directory that is filled under a temporary name before it gets the name of the run, so that two
// processes cannot take the same directory for their own. A process that is killed in between
// leaves it; its name, .scorep-PID-START-NAMESPACE-BOOT-TIME, contains the os::ProcessIdentity of
// that process. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "os/directory.hpp"
#include "os/process.hpp"

namespace timeloom::run {

// A name for a directory of this process, different at each call.
std::string prepared_name();
// The process that made the directory of that name; none: it is not a name of this kind.
std::optional<os::ProcessIdentity> preparer_of(std::string_view name);

// Removes the directory of that name, if it belongs to this user and holds only files that are
// written before a program starts. Errors are ignored.
void remove_prepared(const os::Directory& parent, const std::string& name);
// Removes such directories in `parent` that were left by processes of this user on this machine
// that have ended, and that hold only files written before a program starts. Errors are ignored.
void remove_abandoned(const os::Directory& parent);

}  // namespace timeloom::run
