// Names of the metrics that join a call and the work on a GPU that it started, and of the groups of
// regions of such work. Plain constants.
#pragma once

namespace timeloom {

// Of the call: the time on the GPU of the work that it started, in ns.
inline constexpr char kGpuTime[] = "gpu_time";
// Of the work: the time from the start of its call to its own start, in ns.
inline constexpr char kGpuQueueTime[] = "gpu_queue_time";

inline constexpr char kGpuKernels[] = "CUDA kernels";
inline constexpr char kGpuCopies[] = "CUDA copies";  // and sets

}  // namespace timeloom
