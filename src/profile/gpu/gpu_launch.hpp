// Launches: which call of a thread started a piece of work on a GPU. A call that started work has
// the metric kGpuTime; the work on a stream has kGpuQueueTime, the time since the start of its
// call.
//
// A const object may be used by any thread. Nothing throws.
#pragma once

#include <cstdint>
#include <optional>

#include "core/definitions.hpp"
#include "core/event.hpp"
#include "profile/gpu/gpu_metric.hpp"

namespace timeloom {

// One end of a launch. Both ends have the same number, which no other launch of the run has; the
// works of one call, of a graph for example, share theirs.
struct GpuLaunchEnd {
  bool is_work = false;  // the work on the GPU; otherwise the call
  std::uint64_t number = 0;
};

class GpuLaunches {
 public:
  explicit GpuLaunches(const Definitions& definitions) noexcept {
    // Queue times are nanoseconds.
    if (definitions.clock.ticks_per_second != 1'000'000'000) return;
    for (const Metric& metric : definitions.metrics) {
      const auto id = static_cast<std::uint32_t>(&metric - definitions.metrics.data());
      if (metric.name == kGpuTime) call_ = id;
      if (metric.name == kGpuQueueTime) work_ = id;
    }
    if (work_ == kNone) call_ = kNone;
  }

  // False: the run has no launches.
  bool any() const noexcept { return call_ != kNone; }

  // The end of a launch that the event is; none: the event is not one. `time`: of the event;
  // `entered`: when the innermost open region was entered; both in nanoseconds from the same start.
  // `process`: of the location.
  std::optional<GpuLaunchEnd> end_of(const Event& event, std::uint64_t time, std::uint64_t entered,
                                     LocationGroupId process) const noexcept {
    if (event.kind != EventKind::kMetric || !any()) return std::nullopt;
    if (event.ref == call_) return GpuLaunchEnd{false, number_of_call(process, entered)};
    if (event.ref != work_ || event.value > time) return std::nullopt;
    return GpuLaunchEnd{true, number_of_call(process, time - event.value)};
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // No two calls of a process start in the same nanosecond. The constant keeps up to 4,000
  // processes at least 2^51 ns (26 days) apart.
  static std::uint64_t number_of_call(LocationGroupId process, std::uint64_t start) noexcept {
    return std::uint64_t{process.value()} * 0x9E3779B97F4A7C15 + start;
  }

  std::uint32_t call_ = kNone;
  std::uint32_t work_ = kNone;
};

}  // namespace timeloom
