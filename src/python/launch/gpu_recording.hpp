// Recording of GPUs (src/gpu): the vendor's driver is told to load our library when the program
// begins to use it, so a program that does not pays nothing. Main thread, with the GIL.
#pragma once

#include "settings/settings.hpp"

namespace timeloom::python {

// If the settings ask for it: for this process and the children that it starts. A library of
// another tool that the driver is to load stays, which is said.
void load_gpu_recorder(const Settings& settings);

}  // namespace timeloom::python
