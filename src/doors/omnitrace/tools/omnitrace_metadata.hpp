// The texts of Omnitrace's files metadata.json and functions.json. The environment of the process
// is left out: it may hold secrets.
//
// Plain functions and values, for any thread. Throws only std::bad_alloc.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/definitions.hpp"
#include "doors/omnitrace/format/row_order.hpp"
#include "doors/omnitrace/settings/omnitrace_settings.hpp"

namespace timeloom::tools {

// The files that were written, by their kind ("text", "json", "protobuf"): pairs of metric and
// path.
using WrittenFiles = std::map<std::string, std::vector<std::pair<std::string, std::string>>>;

std::string omnitrace_metadata(const OmnitraceSettings& settings, const WrittenFiles& files,
                               const Definitions& definitions);

// The numbers that stand for each label in the rows.
std::string omnitrace_functions(const omnitrace::Calls& calls, const omnitrace::Rows& rows);

}  // namespace timeloom::tools
