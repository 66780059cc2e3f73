// The lines that Omnitrace prints at its end, with the sums of each process and thread:
// "omnitrace/process/4711/thread/0 : 1.500000 sec wall_clock, ... [laps: 1]".
//
// Plain functions, one thread. Throw what reading the run throws.
#pragma once

#include <string>
#include <vector>

#include "core/event.hpp"
#include "doors/omnitrace/format/omnitrace_metric_rows.hpp"

namespace timeloom::tools {

// The lines for each process and thread; reads the run once. A value that the run does not have is
// left out: a run of another tool has no memory.
std::vector<std::string> sums_of_processes(RunSource& run, const omnitrace::ReportStyle& style,
                                           unsigned threads);

// "0.012000 sec wall_clock, 0.011000 sec cpu_clock, 91.7 % cpu_util"
std::string sum_of_finalizing(double wall_seconds, double cpu_seconds,
                              const omnitrace::ReportStyle& style);

}  // namespace timeloom::tools
