// The metrics that the recorder of OpenMP has for each team, in the parallel region of the thread
// that forks it. Constants.
#pragma once

namespace timeloom {

// Nanoseconds from the fork to the start of the forking thread's own part.
inline constexpr char kOpenMpFork[] = "openmp_fork";
// The number of threads.
inline constexpr char kOpenMpTeam[] = "openmp_team";

}  // namespace timeloom
