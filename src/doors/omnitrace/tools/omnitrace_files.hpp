// Writes the files of Omnitrace's Python profiling for a run: perfetto-trace.proto, a table and a
// JSON report for each metric, metadata.json and functions.json. docs/omnitrace.md has the rules.
//
// Used by the main thread. Throws Error.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "doors/omnitrace/settings/omnitrace_names.hpp"
#include "doors/omnitrace/settings/omnitrace_settings.hpp"
#include "exchange/selection.hpp"

namespace timeloom::tools {

struct OmnitraceJob {
  std::filesystem::path run;  // woven
  OmnitraceSettings settings;
  OmnitracePlace place;   // of the first process; its directory is there
  OmnitracePlace before;  // of the reports for OMNITRACE_DIFF_OUTPUT
  exchange::Selection selection;
  unsigned threads = 1;
  bool replaces = true;  // an existing file of the same name is replaced; else it is an error
};

// The settings that a run was recorded with, overruled by the variables of the environment, which
// alone choose where files go. `directory`: they go there, and no time is in its name.
OmnitraceJob omnitrace_job(const std::filesystem::path& run,
                           const std::optional<std::string>& directory);

// Writes the files that the settings ask for, and prints their names on standard error. Returns the
// losses of the run, a sentence each.
std::vector<std::string> write_omnitrace_files(const OmnitraceJob& job);

// After a weave of a run of this door: its files go beside it. An error is printed, not thrown.
// `own`: the program that recorded it ends just now, and its settings name files. Another run may
// come from anybody: its files have no folder, replace nothing and follow no link.
void write_files_beside(const std::filesystem::path& run, bool own);

}  // namespace timeloom::tools
