// The window (the part of a program to be recorded) given by the settings from, until and after.
//
// A pure function, for any thread.
#pragma once

#include "core/window.hpp"
#include "settings/settings.hpp"

namespace timeloom {

// Throws Error for values that are wrong, alone or together.
Window window_of(const Settings& settings);

}  // namespace timeloom
