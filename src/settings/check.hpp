// The rules between settings: values that are accepted one by one, but not together.
//
// A pure function, for any thread.
#pragma once

#include <cstdint>

#include "settings/settings.hpp"

namespace timeloom {

// The purpose of settings.
enum class Measured : std::uint8_t {
  kProgram,  // run by a launcher
  kBlock,    // of a program that measures itself
  kRunning,  // a process that runs already, from outside
};

// Called once, when all sources have been applied. Throws Error; its message opens with
// the origin of a setting that is to be changed.
void check(const Settings& settings, Measured measured);

}  // namespace timeloom
