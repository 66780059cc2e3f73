// Tells regions that calls enter from regions made by the measurement. A pure function, for any
// thread.
#pragma once

#include "core/regions/forked_region.hpp"
#include "core/waiting_metric.hpp"

namespace timeloom {

// False for regions without visits: those that show in a trace where a forked child comes from, and
// the one for time that was not measured.
inline bool is_called(const Region& region) noexcept {
  return !is_forked(region) && !is_unmeasured(region);
}

}  // namespace timeloom
