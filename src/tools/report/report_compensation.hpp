// `timeloom report --compensate`: the cost of measuring for a call of this run, and the sentence
// about it below tables.
//
// Plain functions.
#pragma once

#include <string>

#include "core/definitions.hpp"
#include "core/measuring_cost.hpp"

namespace timeloom::tools {

// Throws Error if the run does not contain it.
CallCost call_cost_of(const Definitions& definitions);

std::string compensation_text(const CallCost& cost);

}  // namespace timeloom::tools
