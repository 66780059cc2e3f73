// Whether a process is a fork that has recorded no call of its own, and has not worked either.
//
// Calls of the handlers that Python has for forks are not its own. A function for any thread.
// Throws Error when the records cannot be read.
#pragma once

#include "spool/profile_file.hpp"
#include "spool/reader.hpp"

namespace timeloom::weave {

// REQUIRES: the process does not run any more.
bool is_bare_fork(const spool::Reader& reader, const spool::Profiles& profiles);

}  // namespace timeloom::weave
