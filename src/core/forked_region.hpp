// The regions that were open in a process when it forked, as its child has them: where the child's
// calls were made from. They are regions of their own, which count no visit: nobody has called
// them in the child, and a function's numbers are those of its calls. Plain functions.
#pragma once

#include <string_view>
#include <utility>

#include "core/definitions.hpp"

namespace timeloom {

inline constexpr std::string_view kForked = " (forked)";

inline bool is_forked(const Region& region) noexcept {
  return region.role == RegionRole::kArtificial && region.name.ends_with(kForked);
}

inline Region forked_region(Region region) {
  if (is_forked(region)) return region;
  region.name += kForked;
  region.canonical_name = region.name;
  region.role = RegionRole::kArtificial;
  return region;
}

}  // namespace timeloom
