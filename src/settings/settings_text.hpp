// The table of settings as text for people: the help of `timeloom run` and
// docs/settings.md. Pure functions.
#pragma once

#include <string>

#include "settings/settings.hpp"

namespace timeloom {

std::string run_help();

// Its meaning as the help says it, with choices and default.
std::string setting_help(const Setting& setting);

// docs/settings.md, whole.
std::string settings_page();

}  // namespace timeloom
