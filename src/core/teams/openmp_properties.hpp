// Properties of a run about OpenMP, which the recorder writes and reports read. Constants.
#pragma once

namespace timeloom {

// OMP_NUM_THREADS as the program was started with it; absent: it was not set.
inline constexpr char kOmpNumThreads[] = "timeloom::omp_num_threads";
// The number of cores that the first process of the run may use.
inline constexpr char kUsableCores[] = "timeloom::usable_cores";

}  // namespace timeloom
