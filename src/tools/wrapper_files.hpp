// Where the wrapper libraries lie (src/preload), seen from the program `timeloom`. Main thread;
// reads the file system only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "settings/wrappers.hpp"

namespace timeloom::tools {

// The files of these wrappers; of one that is not installed, a line on stderr says that what it
// records is not recorded.
std::vector<std::string> files_of(std::span<const Wrapper> wrappers);

}  // namespace timeloom::tools
