// Converts a run to a format, without the command line.
//
// Used by the main thread. Throws Error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "exchange/export_format.hpp"
#include "exchange/selection.hpp"

namespace timeloom::tools {

enum class Content : std::uint8_t { kAny, kEvents, kPaths, kFlat };

struct ConvertJob {
  const exchange::Format* format = nullptr;
  std::filesystem::path run;  // woven
  Content content = Content::kAny;
  exchange::Selection selection;
  exchange::Options options;
};

// Refuses what the format cannot hold, before anything is read or written.
void check_job(const ConvertJob& job, bool compared);

// Returns what the reader of the trace had to repair and what the run lacks, a sentence each.
std::vector<std::string> convert_run(const ConvertJob& job, exchange::Destination& out);

// The call paths of a run, as far as they are chosen.
profile::CallTree chosen_paths(const std::filesystem::path& run,
                               const exchange::Selection& selection, unsigned threads);

}  // namespace timeloom::tools
