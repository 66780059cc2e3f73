// Commands that are programs of their own in Score-P: scorep-info, scorep-config,
// scorep-preload-init. The help of `timeloom` leaves them out.
//
// Used by the main thread only.
#pragma once

#include "tools/commands.hpp"

namespace timeloom::tools {

Command register_scorep_info(CLI::App& program);
Command register_scorep_config(CLI::App& program);
Command register_scorep_preload(CLI::App& program);

}  // namespace timeloom::tools
