// The table of settings as text for people: the help of `timeloom run` and
// docs/settings.md. Pure functions, for any thread; they throw nothing but std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>

#include "settings/settings.hpp"

namespace timeloom {

// kNames: the settings that most users need, and the names of all others.
enum class HelpDetail : std::uint8_t { kNames, kAll };

std::string run_help(HelpDetail detail);

// The setting's meaning in the words of the help, with choices and default.
std::string setting_help(const Setting& setting);

// The whole text of docs/settings.md.
std::string settings_page();

}  // namespace timeloom
