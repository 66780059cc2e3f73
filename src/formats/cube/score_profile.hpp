// A CUBE profile as the input of `timeloom score`, which estimates the size of a trace. Any thread
// may call the function; a Reader is used by one thread at a time.
#pragma once

#include "formats/cube/cube.hpp"
#include "profile/score.hpp"

namespace timeloom::cube {

// Throws Error if the metric `visits` or `time` is missing.
profile::ScoreProfile score_profile(const Reader& reader);

}  // namespace timeloom::cube
