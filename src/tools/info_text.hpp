// The contents of a run as text for people.
//
// Used by one thread; throws Error when the output cannot be written.
#pragma once

#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "tools/output.hpp"
#include "tools/run_facts.hpp"
#include "tools/run_files.hpp"
#include "tools/terminal.hpp"

namespace timeloom::tools {

void write_info(const Definitions& definitions, const std::vector<RunFile>& files,
                const std::string& run, const Terminal& terminal, Output& output);

}  // namespace timeloom::tools
