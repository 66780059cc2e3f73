// Programs of their own in Score-P; not in the help of `timeloom`.
//
// Used by the main thread only.
#pragma once

#include "tools/commands.hpp"

namespace timeloom::tools {

Command register_scorep_info(CLI::App& program);
Command register_scorep_config(CLI::App& program);
Command register_scorep_preload(CLI::App& program);

}  // namespace timeloom::tools
