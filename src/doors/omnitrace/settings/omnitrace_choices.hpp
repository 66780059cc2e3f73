// The variables of Omnitrace that choose a part of a program: windows of time and categories.
//
// Plain functions; any thread may call them. They throw Error for a value that cannot be read.
#pragma once

#include <string>
#include <vector>

#include "doors/omnitrace/settings/omnitrace_settings.hpp"

namespace timeloom {

// The time that is recorded, in seconds; durations of 0 last until the end.
struct TraceWindow {
  double delay = 0;
  double duration = 0;
};

// The first window of OMNITRACE_TRACE_PERIODS; without it, the window of OMNITRACE_TRACE_DELAY and
// OMNITRACE_TRACE_DURATION.
TraceWindow trace_window(const OmnitraceSettings& omnitrace);

// The categories that the files leave out, of "python", "user" and "mpi".
std::vector<std::string> categories_left_out(const OmnitraceSettings& omnitrace);

// The parts of these requests that are not met, a line each.
std::vector<std::string> unmet_choices(const OmnitraceSettings& omnitrace);

}  // namespace timeloom
