// The regions of OpenMP in which a thread waits for other threads.
//
// A plain value. Does not throw.
#pragma once

#include <algorithm>
#include <vector>

#include "core/definitions.hpp"

namespace timeloom {

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
      default: return false;
    }
  }

 private:
  bool blocks_;
};

}  // namespace timeloom
