// The options that the recorder begins a measurement of this process with. Needs the GIL.
#pragma once

#include "python/session/session.hpp"
#include "python/session/session_plan.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

// Makes the run directory, if it is not there, and chooses a spool in it. Throws Error.
record::StartOptions start_options(const Settings& settings, const SessionContext& context,
                                   const SessionPlan& plan);

}  // namespace timeloom::python
