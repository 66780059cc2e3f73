// Further values of the call paths of a location, beside visits and time: work and waiting, the
// time on GPUs, memory. A run has a value if it has recorded it.
//
// Used by one thread. Throws nothing but std::bad_alloc.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/ids.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::exchange {

enum class PathValue : std::uint8_t {
  kWork,         // ns of the own time in which the thread ran on a processor
  kWaiting,      // ns, the rest of the own time
  kEstimated,    // ns of the own time that are estimated from samples (--overhead)
  kGpu,          // ns on the GPU, of the work that the call started
  kAllocations,  // number
  kAllocated,    // bytes, own
  kHeldAtPeak,   // bytes, own: an estimate
  kHeldAtEnd,    // bytes, own: an estimate
};

// In front of the names of call paths whose time is estimated (profile::estimated_nodes).
inline constexpr char kEstimateMark = '~';

class PathValues {
 public:
  // `tree` outlives it.
  explicit PathValues(const profile::CallTree& tree);

  // The values that the run has.
  std::span<const PathValue> kinds() const { return kinds_; }
  bool has(PathValue kind) const;

  // Reads the values of a location; value() then is of its call paths.
  void read(const profile::LocationProfile& location);
  // `own_ns`: the exclusive time of the call path. REQUIRES: the run has the value.
  std::uint64_t value(PathValue kind, profile::NodeId node, std::uint64_t own_ns) const;

 private:
  struct Values {
    std::uint64_t waiting = 0, estimated = 0, gpu = 0, allocations = 0, allocated = 0, at_peak = 0,
                  at_end = 0;
  };
  void add(Values& values, const profile::MetricCell& cell) const;
  bool counts_no_time(profile::NodeId node) const;

  const profile::CallTree& tree_;
  std::vector<PathValue> kinds_;
  std::vector<bool> waiting_metrics_;                   // by metric
  std::unordered_map<std::uint32_t, Values> of_nodes_;  // of the location
};

}  // namespace timeloom::exchange
