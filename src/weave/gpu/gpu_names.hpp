// Names of the definitions in a run that belong to GPUs. Reports, exports and readers of the files
// find them by these names. Plain constants.
#pragma once

namespace timeloom {

// Groups of regions.
inline constexpr char kGpuKernels[] = "CUDA kernels";
inline constexpr char kGpuCopies[] = "CUDA copies";  // and sets
inline constexpr char kGpuCalls[] = "CUDA";          // calls of its functions, on threads

// The work that a call has started, as a parameter of the call's visit.
inline constexpr char kGpuStarted[] = "started";
// Metrics. A call has the time of its work on the GPU. Work on a GPU has the time from the start of
// its call to its own start, and the number of bytes copied or set.
inline constexpr char kGpuTime[] = "gpu_time";
inline constexpr char kGpuQueueTime[] = "gpu_queue_time";
inline constexpr char kGpuBytes[] = "gpu_bytes";

// Properties of the run: nanoseconds in which at least one queue of a device was busy, added up
// over all devices; the number of devices; the data that is missing.
inline constexpr char kGpuBusy[] = "timeloom::gpu_busy_ns";
inline constexpr char kGpuDevices[] = "timeloom::gpu_devices";
inline constexpr char kGpuLost[] = "timeloom::gpu_lost_records";
inline constexpr char kGpuLeft[] = "timeloom::gpu_left";  // "true": another tool took over

}  // namespace timeloom
