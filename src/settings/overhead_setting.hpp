// The share of CPU time that measuring may take, from the setting overhead.
//
// A pure function, for any thread.
#pragma once

#include <optional>

#include "settings/settings.hpp"

namespace timeloom {

// 0.05 for 5%; none: not set. Throws Error for a text that is not a percentage from 0 to 100.
std::optional<double> overhead_limit_of(const Settings& settings);

}  // namespace timeloom
