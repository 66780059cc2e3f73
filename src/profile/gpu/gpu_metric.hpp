// The metric with which a call has the time on the GPU of the work that it started. Plain constant.
#pragma once

namespace timeloom {

inline constexpr char kGpuTime[] = "gpu_time";  // ns

}  // namespace timeloom
