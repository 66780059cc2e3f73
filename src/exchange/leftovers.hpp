// The unfinished files that killed conversions have left behind: `.NAME.PID.part` or
// `.NAME.PID-N.part` beside NAME.
//
// A plain function for any thread. Nothing is thrown but what memory can.
#pragma once

#include <string>

#include "os/directory.hpp"

namespace timeloom::exchange {

// Removes those of this file that nobody writes any more: of this user, of a process that is gone,
// and not locked, as Destination locks what it writes. So those of other machines and containers,
// whose processes cannot be seen, stay while they are written. Links are not followed.
void remove_leftovers(const os::Directory& directory, const std::string& name) noexcept;

}  // namespace timeloom::exchange
