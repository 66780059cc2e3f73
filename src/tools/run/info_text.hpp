// The contents of a run as text for people.
//
// Used by one thread; throws Error when the output cannot be written.
#pragma once

#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/run/run_files.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// `packing`: a sentence about the size that the trace would have when packed; empty: it cannot be
// packed. `all`: also ids that only files have, and the properties of the run.
void write_info(const Definitions& definitions, const std::vector<RunFile>& files,
                const std::string& packing, const std::string& run, bool all,
                const Terminal& terminal, Output& output);

}  // namespace timeloom::tools
