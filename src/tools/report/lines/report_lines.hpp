// `timeloom report --lines`: CPU time by source line, from samples; and the lines of one function
// for `timeloom report --function NAME`.
//
// Plain functions, used by one thread; they throw Error as Output does, print_lines() also when the
// run has no lines.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "core/definitions.hpp"
#include "tools/report/lines/line_times.hpp"
#include "tools/report/report_options.hpp"
#include "tools/samples/run_samples.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// Of a part of the run; nothing: of all. Empty: it has no lines, or an older version has not kept
// single samples.
LineTimes line_times(const std::optional<SamplePart>& part, const std::filesystem::path& run);

// Returns the exit status.
int print_lines(const ReportOptions& options, const std::optional<SamplePart>& part,
                const Definitions& definitions, const std::filesystem::path& run);

// The lines of a function by their time; nothing where it has no samples.
void write_lines_of_function(const std::vector<view::LineTime>& lines, const Terminal& terminal,
                             Output& output);

}  // namespace timeloom::tools
