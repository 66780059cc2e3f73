// The names of the variables by which `timeloom run --program` tells the recorder inside the
// program into which run to record. Constants.
#pragma once

namespace timeloom {

// Holds the absolute path of the settings file of a run (TIMELOOM_NAME=value, one a line); the run
// is its directory. The children of the program inherit the variable, and join the run.
inline constexpr char kNativeSettingsVariable[] = "TIMELOOM_NATIVE_SETTINGS";
// Holds the directory of the spools if the program is a rank of a job; its first process is the
// rank in the directory's name (run/job.hpp). Without it, the run's directory of spools is used.
inline constexpr char kNativeSpoolsVariable[] = "TIMELOOM_NATIVE_SPOOLS";
// Set if the launcher of that job does not use MPI.
inline constexpr char kNativePlainRankVariable[] = "TIMELOOM_NATIVE_PLAIN_RANK";
// The path of the timeloom program that started it, which also starts processes spawned by MPI.
inline constexpr char kNativeLauncherVariable[] = "TIMELOOM_NATIVE_LAUNCHER";
// If the program was itself spawned by MPI: the path of its parent's spool.
inline constexpr char kNativeParentVariable[] = "TIMELOOM_NATIVE_PARENT";

// The filter of compiled code (core/filter/filter_text.hpp); absent: all is recorded.
inline constexpr char kNativeFilterVariable[] = "TIMELOOM_NATIVE_FILTER";

}  // namespace timeloom
