// The table of settings as text for people: the help of `timeloom run` and
// docs/settings.md. Pure functions.
#pragma once

#include <string>

namespace timeloom {

std::string run_help();

// docs/settings.md, whole.
std::string settings_page();

}  // namespace timeloom
