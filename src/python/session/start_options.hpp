// The recorder's options at the start of a measurement of this process. Needs the GIL.
#pragma once

#include "python/session/session.hpp"
#include "python/session/session_plan.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

// Creates the run directory, if it does not exist, and chooses a spool in it. Throws Error.
record::StartOptions start_options(const Settings& settings, const SessionContext& context,
                                   const SessionPlan& plan);

}  // namespace timeloom::python
