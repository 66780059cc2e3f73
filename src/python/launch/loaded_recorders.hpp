// Libraries of ours that others load when the program begins to use them, so that a program that
// does not pays nothing: the driver of a GPU (src/gpu), Kokkos (src/preload/kokkos). A variable of
// the environment names the library. Main thread, with the GIL.
#pragma once

#include "settings/settings.hpp"

namespace timeloom::python {

// If the settings ask for it: for this process and the children that it starts. A line names the
// library of another tool, which stays.
void load_recorders(const Settings& settings);

}  // namespace timeloom::python
