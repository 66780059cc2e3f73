// The regions of OpenMP in which a thread waits for other threads.
//
// Plain values and pure functions, for any thread. Nothing throws.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/definitions.hpp"

namespace timeloom {

// Whether the region is the call that takes a lock, and ends when the thread has it. A name may end
// with the place of the call: "omp_set_lock @solve.c:14".
inline bool takes_openmp_lock(const Region& region) noexcept {
  const std::string_view function(region.name.data(),
                                  std::min(region.name.find(' '), region.name.size()));
  return region.paradigm == Paradigm::kOpenMp &&
         (function == "omp_set_lock" || function == "omp_set_nest_lock");
}

class OpenMpWaits {
 public:
  explicit OpenMpWaits(const std::vector<Region>& regions)
      : blocks_(std::ranges::any_of(regions, [](const Region& region) {
          return region.role == RegionRole::kCriticalBlock ||
                 region.role == RegionRole::kOrderedBlock;
        })) {}

  // Whether the region's own time, without regions inside it, is a wait. A critical or ordered
  // construct counts only in a run that has regions for its block: elsewhere its own time is also
  // the time of the block.
  bool waits(const Region& region) const noexcept {
    if (region.paradigm != Paradigm::kOpenMp) return false;
    switch (region.role) {
      case RegionRole::kImplicitBarrier:
      case RegionRole::kBarrier:
      case RegionRole::kTaskWait: return true;
      case RegionRole::kCritical:
      case RegionRole::kOrdered: return blocks_;
      default: return takes_openmp_lock(region);
    }
  }

 private:
  bool blocks_;
};

}  // namespace timeloom
