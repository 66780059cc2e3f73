// Removes the unfinished files of killed conversions: `.NAME.PID.part` or `.NAME.PID-N.part` beside
// NAME.
//
// A plain function for any thread. Nothing throws: without memory the files stay.
#pragma once

#include <string>

#include "os/directory.hpp"

namespace timeloom::exchange {

// Removes the temporary files of this file that are no longer written: they belong to this user,
// their process is gone, and they are not locked (Destination locks the files that it writes). The
// lock protects files of other machines and containers, whose processes cannot be seen. Links are
// not followed.
void remove_leftovers(const os::Directory& directory, const std::string& name) noexcept;

}  // namespace timeloom::exchange
