// Opens the run that a user names, for the commands that read it.
//
// Used by the main thread; throws Error when there is no such run or it cannot be read.
// Cut-off parts and files that cannot be used are reported on standard error.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/event.hpp"
#include "formats/cube/cube.hpp"
#include "profile/call_tree.hpp"
#include "weave/run.hpp"

namespace timeloom::tools {

// The path of the run that `name` means, which is woven first if it is unfinished. None: the newest
// run in the working folder.
std::filesystem::path open_run(const std::optional<std::string>& name);

// The run of the process if `name` is the number of a measured process; otherwise `name` itself.
std::optional<std::string> run_or_process(const std::optional<std::string>& name);

// Its call tree: from its CUBE profile if that was woven with its trace or there is no
// trace, or else aggregated from the trace.
profile::CallTree call_tree_of(const std::filesystem::path& run);

// The definitions of its trace, or of its CUBE profile if there is no trace.
Definitions definitions_of(const std::filesystem::path& run);

// The definitions of a CUBE profile in that directory, and whether files of the trace beside it, if
// they were woven together, are missing, cut off or damaged.
Definitions definitions_beside(const cube::Reader& profile, const std::filesystem::path& directory);

// One line about a weave: its counts, losses and cut-off regions.
std::string describe(const weave::WeaveSummary& summary);
// "not timed to the end: fib after 12,345 visits, ... and 3 others", or the share of the time in
// which functions were seen; empty: all functions were timed to the end.
std::string untimed_text(const weave::WeaveSummary& summary);

// Prints a warning on standard error if the profile has lost levels of calls.
void warn_of_depth(const weave::WeaveSummary& summary);

// One line on standard error, headed by the name of the program.
void print_line(const std::string& line);

}  // namespace timeloom::tools
