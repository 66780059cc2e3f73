// Loading the wrapper libraries that the settings ask for (src/preload).
//
// The dynamic linker loads them when a process begins, so the launcher begins once more in the same
// process, with LD_PRELOAD. Afterwards LD_PRELOAD is what it was before, so that no child inherits
// it. A user may have set it by hand: then nothing begins again. Main thread, with the GIL.
#pragma once

#include <string>
#include <string_view>

#include "settings/settings.hpp"
#include "settings/wrappers.hpp"

namespace timeloom::python {

// Loads the wrappers that the settings request, and the wrappers of MPI if an MPI launcher has
// started this process and no setting refuses them. If wrappers are missing, starts the process
// again and does not return. REQUIRES: the program has not begun. If that does not help, prints
// which records are missing.
void load_wrappers(const Settings& settings);

// The same where the program has begun: nothing begins again.
void print_missing_wrappers(const Settings& settings);

bool is_loaded(const Wrapper& wrapper);

// The path of a library that is installed beside libtimeloom.so; empty: there is none of that name.
std::string beside_recorder(std::string_view library);

}  // namespace timeloom::python
