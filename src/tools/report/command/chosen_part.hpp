// The part of a run that the options of `timeloom report` choose: threads, processes, a stretch of
// time.
//
// Pure functions of their arguments but for chosen_tree(), which reads the run. Used by one thread.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "core/definitions.hpp"
#include "profile/call_tree.hpp"
#include "tools/report/report_compensation.hpp"
#include "tools/report/report_options.hpp"
#include "tools/samples/run_samples.hpp"

namespace timeloom::tools {

// The locations of the chosen threads and processes. Queues of GPUs are among them only by name.
// Throws Error if a chosen process has no locations, or no thread has the chosen name.
std::set<LocationId> selected_locations(const ReportOptions& options,
                                        const Definitions& definitions);

// Their number or name, for the head of a table: "5 threads", "thread worker-1".
std::string scope_of(const std::set<LocationId>& ids, const Definitions& definitions);

// Whether --from or --to leaves out a part of the run.
bool of_a_part(const ReportOptions& options);

// The chosen part of the samples; nothing: all of the run. Error and WrongUsage as for
// chosen_tree() and selected_locations().
std::optional<SamplePart> chosen_samples(const ReportOptions& options,
                                         const Definitions& definitions);

// The call tree of the chosen time. Error and WrongUsage: the times contradict each other or the
// run.
profile::CallTree chosen_tree(const ReportOptions& options, const std::filesystem::path& run);

// The cost of measuring that --compensate subtracts from the times; none: without the option.
std::optional<CallCost> taken_away(const ReportOptions& options, const profile::CallTree& tree);

}  // namespace timeloom::tools
