// Timeloom's libraries that others load when the program begins to use them, so that other programs
// pay nothing: the driver of a GPU (src/gpu), Kokkos (src/preload/kokkos). A variable of the
// environment names the library. Main thread, with the GIL.
#pragma once

#include "settings/settings.hpp"

namespace timeloom::python {

// Sets these variables, if the settings ask for it, for this process and the children that it
// starts. If a variable names the library of another tool, that stays, and a line reports it.
void load_recorders(const Settings& settings);

}  // namespace timeloom::python
