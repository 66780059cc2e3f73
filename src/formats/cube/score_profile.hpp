// A CUBE profile as an estimate of the trace sees it. Any thread may call it.
#pragma once

#include "formats/cube/cube.hpp"
#include "profile/score.hpp"

namespace timeloom::cube {

// Throws Error when it has not the metrics `visits` and `time`.
profile::ScoreProfile score_profile(const Reader& reader);

}  // namespace timeloom::cube
