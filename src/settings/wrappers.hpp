// The wrapper libraries (src/preload) and the settings that ask for them; LD_PRELOAD, the variable
// by which the dynamic linker loads them.
//
// Constant values and pure functions, for any thread. Throws std::bad_alloc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "settings/settings.hpp"

namespace timeloom {

inline constexpr char kPreloadVariable[] = "LD_PRELOAD";

struct Wrapper {
  SettingId setting;
  std::string_view library;  // its file, and the name that the dynamic linker knows it by
  std::string_view option;   // of `timeloom run` and `timeloom preload`
  std::string_view what;     // is recorded by it
};

std::span<const Wrapper> all_wrappers() noexcept;
// Asks for MPI where its launcher has started this process and nobody has said whether.
// `environment` is like environ(7).
void ask_for_mpi(Settings& settings, const char* const* environment);
// Those that the settings ask for, if they ask for results at all.
std::vector<Wrapper> wanted_wrappers(const Settings& settings);
// Somebody has said of each of them that it is not wanted: one that is loaded stays dormant, too.
bool refuses_wrappers(const Settings& settings);

// Whether the value of LD_PRELOAD names the library, in whatever directory.
bool preloads(std::string_view value, std::string_view library);
// The value with these files before what it has; without all wrapper libraries.
std::string with_libraries(std::string_view value, std::span<const std::string> files);
std::string without_wrappers(std::string_view value);

}  // namespace timeloom
