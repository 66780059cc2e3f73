// A CUBE profile as the input of a trace size estimate. Any thread may call it.
#pragma once

#include "formats/cube/cube.hpp"
#include "profile/score.hpp"

namespace timeloom::cube {

// Throws Error if the metric `visits` or `time` is missing.
profile::ScoreProfile score_profile(const Reader& reader);

}  // namespace timeloom::cube
