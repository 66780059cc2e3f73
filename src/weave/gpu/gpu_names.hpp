// Names by which the parts of a run that belong to GPUs are known, wherever it is read: to reports,
// exports, and readers of the files.
#pragma once

namespace timeloom {

// Groups of regions.
inline constexpr char kGpuKernels[] = "CUDA kernels";
inline constexpr char kGpuCopies[] = "CUDA copies";  // and sets
inline constexpr char kGpuCalls[] = "CUDA";          // calls of its functions, on threads

// What a call has started, as a parameter of its visit.
inline constexpr char kGpuStarted[] = "started";
// Metrics. Of a call: the time on the GPU of what it has started. Of what runs on a GPU: the time
// from the begin of the call to its own begin, and the bytes that are copied or set.
inline constexpr char kGpuTime[] = "gpu_time";
inline constexpr char kGpuQueueTime[] = "gpu_queue_time";
inline constexpr char kGpuBytes[] = "gpu_bytes";

// Properties of the run: nanoseconds in which at least one queue of a device was at work, over all
// devices; the number of these; what is missing.
inline constexpr char kGpuBusy[] = "timeloom::gpu_busy_ns";
inline constexpr char kGpuDevices[] = "timeloom::gpu_devices";
inline constexpr char kGpuLost[] = "timeloom::gpu_lost_records";
inline constexpr char kGpuLeft[] = "timeloom::gpu_left";  // "true": another tool took over

}  // namespace timeloom
