// The trace of a run as an OTF2 archive, in a directory of its own.
//
// Used by the main thread; throws Error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "exchange/export_format.hpp"
#include "tools/convert/convert_run.hpp"

namespace timeloom::tools {

extern const exchange::Format kOtf2Format;

// Writes traces.otf2 and the files that belong to it into a directory that is new, or empty and not
// another user's. Returns
// the losses of the run, a sentence each.
std::vector<std::string> write_otf2(const ConvertJob& job, const std::filesystem::path& directory);

}  // namespace timeloom::tools
