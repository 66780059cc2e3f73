// `timeloom report --compensate`: what measuring cost a call of this run, and the sentence that
// says so below tables.
//
// Plain functions.
#pragma once

#include <string>

#include "core/definitions.hpp"
#include "core/measuring_cost.hpp"

namespace timeloom::tools {

// Throws Error where the run does not say it.
CallCost call_cost_of(const Definitions& definitions);

std::string compensation_text(const CallCost& cost);

}  // namespace timeloom::tools
