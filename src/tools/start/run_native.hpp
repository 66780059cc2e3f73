// `timeloom run --program`: runs a program without Python and records the native code in
// it that is marked with the C interface (include/timeloom/timeloom.h).
//
// Makes the run, starts the program with the variable by which libtimeloom finds it, waits,
// weaves and prints the summary. Used by the main thread.
#pragma once

#include "settings/command_line.hpp"

namespace timeloom::tools {

// The exit status of the program; 128 and the number of the signal that ended it. Throws
// Error for wrong usage, and when the program cannot be started.
int run_native(const CommandLine& line);

}  // namespace timeloom::tools
