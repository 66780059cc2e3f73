// The samples of a run as the options of `timeloom report` choose them.
//
// Plain functions, used by one thread; they throw Error.
#pragma once

#include <filesystem>

#include "profile/call_tree.hpp"
#include "tools/report/native/native_times.hpp"
#include "tools/report/report_options.hpp"

namespace timeloom::tools {

// The samples of the whole run. Empty: it has none, or the options choose a part of the run, whose
// samples are not known.
NativeTimes native_times(const ReportOptions& options, const profile::CallTree& tree,
                         const std::filesystem::path& run);

// `timeloom report --native`; returns the exit status.
int print_native(const ReportOptions& options, const std::filesystem::path& run);

}  // namespace timeloom::tools
