// Which regions are entered by a call. Plain functions.
#pragma once

#include "core/forked_region.hpp"
#include "core/waiting_metric.hpp"

namespace timeloom {

// Not those that only stand in a trace for where a child comes from, or for time that nobody has
// measured: these have no visits.
inline bool is_called(const Region& region) noexcept {
  return !is_forked(region) && !is_unmeasured(region);
}

}  // namespace timeloom
