// Names of signals. Pure, for any thread.
#pragma once

#include <string>

namespace timeloom::os {

// "SIGTERM"; "signal 34" for a signal without a name.
std::string signal_name(int signal);

}  // namespace timeloom::os
