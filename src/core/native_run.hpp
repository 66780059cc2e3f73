// The variables by which `timeloom run --program` tells the recorder inside the program where to
// record.
#pragma once

namespace timeloom {

// Holds the absolute path of the settings file of a run (TIMELOOM_NAME=value, one a line); the run
// is its directory. The children of the program inherit the variable, and join the run.
inline constexpr char kNativeSettingsVariable[] = "TIMELOOM_NATIVE_SETTINGS";
// Holds the directory of its spools where the program is a rank of a job; its first process is the
// rank that the name of the directory says (run/job.hpp). Without it, that of the run.
inline constexpr char kNativeSpoolsVariable[] = "TIMELOOM_NATIVE_SPOOLS";
// Set where the launcher of that job is none of MPI's.
inline constexpr char kNativePlainRankVariable[] = "TIMELOOM_NATIVE_PLAIN_RANK";
// The path of the timeloom program that has started it, which also starts what it spawns by MPI.
inline constexpr char kNativeLauncherVariable[] = "TIMELOOM_NATIVE_LAUNCHER";
// Where it was spawned so itself: the path of the spool of the process that has spawned it.
inline constexpr char kNativeParentVariable[] = "TIMELOOM_NATIVE_PARENT";

}  // namespace timeloom
