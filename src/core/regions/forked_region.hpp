// Stand-ins, in a forked child, for the regions that were open in its parent at the fork: they show
// from where the child's calls were made. They are regions of their own and count no visits, since
// the child did not call them, and a function's numbers count its calls only. Pure functions, for
// any thread.
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
