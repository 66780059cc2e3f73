// The rules between settings: rejects values that are valid one by one, but not together.
//
// A pure function, for any thread.
#pragma once

#include <cstdint>

#include "settings/settings.hpp"

namespace timeloom {

// The thing to be measured with the settings.
enum class Measured : std::uint8_t {
  kProgram,  // run by a launcher
  kBlock,    // of a program that measures itself
  kRunning,  // a process that runs already, from outside
};

// Called once, when all sources have been applied. Throws an Error whose message starts
// with the origin of the setting that has to be changed.
void check(const Settings& settings, Measured measured);

}  // namespace timeloom
