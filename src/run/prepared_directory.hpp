// A directory that is filled under a name of its own before it gets that of the run, so that two
// processes cannot take the same one for theirs. A process that is killed in between leaves it;
// the name says who made it: .scorep-PID-START-NAMESPACE-BOOT-TIME, of which os::ProcessIdentity is
// the middle. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "os/directory.hpp"
#include "os/process.hpp"

namespace timeloom::run {

// A name for a directory of this process, another one each time.
std::string prepared_name();
// The process that made the directory of that name; none: the name is another one.
std::optional<os::ProcessIdentity> preparer_of(std::string_view name);

// Removes the directory of that name, if it is of this user and holds nothing but what is written
// before a program begins. It stays where it cannot be removed.
void remove_prepared(const os::Directory& parent, const std::string& name);
// Removes the directories in `parent` that ended processes of this user on this machine have left
// so, and that hold nothing but what is written before a program begins. All others stay, and so
// does what cannot be removed.
void remove_abandoned(const os::Directory& parent);

}  // namespace timeloom::run
