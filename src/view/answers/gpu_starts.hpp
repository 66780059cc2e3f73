// The time on GPUs of the work that calls started, by call path: the metric kGpuTime of calls.
//
// Plain values and functions, for any thread. Times are ticks since the start of the run. Throws
// only std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/definitions.hpp"
#include "core/event.hpp"
#include "view/index/cursor.hpp"

namespace timeloom::view {

// One call that started work.
struct GpuStart {
  std::uint64_t time = 0;
  std::uint64_t ticks = 0;  // on the GPU
  std::uint32_t track = 0;
  std::uint32_t path = 0;  // of the run
};

// Finds such calls among the events of tracks.
class GpuStartFinder {
 public:
  explicit GpuStartFinder(const Definitions& definitions);

  // The call at which the cursor has read a value of the metric; none: another event.
  // REQUIRES: the token is Token::kOther.
  std::optional<GpuStart> start_at(const Cursor& cursor, const Track& track,
                                   std::uint32_t number) const noexcept;

 private:
  std::optional<std::uint32_t> metric_;
  double ticks_per_ns_ = 1;
};

struct GpuSum {
  std::uint32_t path = 0;
  std::uint64_t starts = 0;
  std::uint64_t ticks = 0;
};

// The sums of the calls whose value lies in [from, to), in order of the paths. `tracks`: by number;
// calls on other tracks are left out.
std::vector<GpuSum> gpu_sums(std::span<const GpuStart> starts, const std::vector<bool>& tracks,
                             std::uint64_t from, std::uint64_t to);

}  // namespace timeloom::view
