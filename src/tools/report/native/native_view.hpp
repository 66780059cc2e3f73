// The samples of a run as the options of `timeloom report` choose them.
//
// Plain functions, used by one thread; they throw Error.
#pragma once

#include <filesystem>
#include <optional>

#include "core/definitions.hpp"
#include "tools/report/native/native_times.hpp"
#include "tools/report/report_options.hpp"
#include "tools/samples/run_samples.hpp"

namespace timeloom::tools {

// Of a part of the run; nothing: of all. Empty: it has no samples, or an older version has not kept
// single ones.
NativeTimes native_times(const std::optional<SamplePart>& part, const Definitions& definitions,
                         const std::filesystem::path& run);

// `timeloom report --native`; returns the exit status.
int print_native(const ReportOptions& options, const std::optional<SamplePart>& part,
                 const Definitions& definitions, const std::filesystem::path& run);

}  // namespace timeloom::tools
