// Names of the definitions in a run that belong to GPUs. Reports, exports and readers of the files
// find them by these names. Plain constants.
#pragma once

#include "profile/gpu/gpu_metric.hpp"

namespace timeloom {

// Groups of regions, beside those in gpu_metric.hpp.
inline constexpr char kGpuRanges[] = "NVTX";  // ranges that the program has named
inline constexpr char kGpuCalls[] = "CUDA";   // calls of its functions, on threads

// A context, before its number. The name is Score-P's.
inline constexpr char kGpuContext[] = "CUDA Context ";

// The work that a call has started, and the queues or the event that it waits for, as parameters of
// the call's visit.
inline constexpr char kGpuStarted[] = "started";
inline constexpr char kGpuGraph[] = "graph ";  // before the number of a started graph
inline constexpr char kGpuWaitsFor[] = "waits_for";
// The domain and the category of a range, as parameters of its visit.
inline constexpr char kGpuDomain[] = "nvtx_domain";
inline constexpr char kGpuCategory[] = "nvtx_category";
// Metrics. A call has kGpuTime; work on a GPU has kGpuQueueTime and the number of bytes copied or
// set.
inline constexpr char kGpuBytes[] = "gpu_bytes";
// A call has the time in which it waited for a GPU, the bytes that its device held after it, the
// bytes that it allocated, and the parts of these that were held at the device's peak and were
// never released.
inline constexpr char kGpuWaitTime[] = "gpu_wait_time";
inline constexpr char kGpuMemory[] = "gpu_memory";
inline constexpr char kGpuAllocated[] = "gpu_allocated";
inline constexpr char kGpuAtPeak[] = "gpu_memory_at_peak";
inline constexpr char kGpuAtEnd[] = "gpu_memory_at_end";
// A region has the time in which a device was idle while the region ran on the thread that gave the
// device its next work.
inline constexpr char kGpuIdleTime[] = "gpu_idle_time";

// Properties of the run: nanoseconds in which at least one queue of a device was busy, added up
// over all devices; in which it was idle while the thread that gave it the next work was outside of
// calls; the devices, added up over the processes; the missing data. A line for each device of a
// process: see GpuDeviceUse.
inline constexpr char kGpuBusy[] = "timeloom::gpu_busy_ns";
inline constexpr char kGpuWaits[] = "timeloom::gpu_waits_ns";
inline constexpr char kGpuDevices[] = "timeloom::gpu_devices";
inline constexpr char kGpuDeviceUses[] = "timeloom::gpu_device_uses";
// A line for each counter of a device of a process: the group of the process, the device, the
// number of values, their sum, the largest, and the name of the metric.
inline constexpr char kGpuCounterSums[] = "timeloom::gpu_counters";
inline constexpr char kGpuLost[] = "timeloom::gpu_lost_records";
inline constexpr char kGpuLeft[] = "timeloom::gpu_left";  // "true": another tool took over

}  // namespace timeloom
