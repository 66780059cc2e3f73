// The differences between Omnitrace's reports of this and of an earlier run
// (OMNITRACE_DIFF_OUTPUT): JSON reports of ours or of Omnitrace itself are read again.
//
// Plain functions, one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doors/omnitrace/format/omnitrace_metric_rows.hpp"
#include "doors/omnitrace/settings/omnitrace_names.hpp"

namespace timeloom::tools {

// The path of the earlier run's JSON report of a metric: with the suffix of the place, or without
// one, or else the only one with another suffix. Throws Error if there is none, or more than one to
// choose from.
std::filesystem::path earlier_report(const OmnitracePlace& place, std::string_view metric);

// The rows of the rank in a JSON report, or else of the first; times and memory in the units of
// the style. Throws Error for a file that is not such a report.
std::vector<omnitrace::TextRow> read_report(const std::filesystem::path& file,
                                            const omnitrace::Metric& metric,
                                            const omnitrace::ReportStyle& style,
                                            std::optional<std::uint64_t> rank);

// Every number of `now` minus the number of the same call path in `before`; a call path that one of
// them lacks has zeros there. The rows of `now`, each followed by the call paths below it that only
// `before` has.
std::vector<omnitrace::TextRow> difference(const std::vector<omnitrace::TextRow>& now,
                                           const std::vector<omnitrace::TextRow>& before);

}  // namespace timeloom::tools
