// How `timeloom run --program` tells the recorder inside the program where to record.
#pragma once

namespace timeloom {

// The variable that holds the absolute path of the run, in which scorep.cfg holds the
// settings. The children of the program inherit it, and join the run.
inline constexpr char kNativeRunVariable[] = "TIMELOOM_NATIVE_RUN";

}  // namespace timeloom
