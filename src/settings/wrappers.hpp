// The wrapper libraries (src/preload), the settings that select them, and the value of LD_PRELOAD,
// the variable by which the dynamic linker loads them.
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
// Options of the address sanitizer of a program. GCC's refuses to run a program into which another
// library is loaded first, unless it is told not to look.
inline constexpr char kSanitizerVariable[] = "ASAN_OPTIONS";
// The variable by which Kokkos loads a tool, and Timeloom's tool for it.
inline constexpr char kKokkosVariable[] = "KOKKOS_TOOLS_LIBS";
inline constexpr char kKokkosLibrary[] = "libtimeloom-kokkos.so";

struct Wrapper {
  SettingId setting;
  std::string_view library;  // its file, and its name for the dynamic linker
  std::string_view option;   // of `timeloom run` and `timeloom preload`
  std::string_view what;     // the things that it records, in words
};

// The parts of the setting `thread`: threads of POSIX, teams and tasks of OpenMP, the latter with
// LLVM's runtime in place of GNU's.
bool records_threads(const Settings& settings);
bool records_memory(const Settings& settings);
bool records_openmp(const Settings& settings);
bool replaces_openmp(const Settings& settings);

std::span<const Wrapper> all_wrappers() noexcept;
// Selects the MPI wrapper if a launcher of MPI has started this process and the user has not
// decided. `environment` is like environ(7).
void ask_for_mpi(Settings& settings, const char* const* environment);
// The wrappers that the settings select; empty if the settings ask for no results at all.
std::vector<Wrapper> wanted_wrappers(const Settings& settings);
// Whether the user has switched off every wrapper: one that is loaded all the same stays inactive.
bool refuses_wrappers(const Settings& settings);

// Whether the value of LD_PRELOAD names the library, in any directory.
bool preloads(std::string_view value, std::string_view library);
// The value of LD_PRELOAD with these files put first; and the value without Timeloom's wrapper
// libraries, or also without LLVM's OpenMP runtime.
std::string with_libraries(std::string_view value, std::span<const std::string> files);
std::string without_wrappers(std::string_view value, bool nor_llvm_openmp = false);
// The value of ASAN_OPTIONS with which a program runs when libraries are loaded before it. A choice
// of the user's stays.
std::string with_any_link_order(std::string_view options);

}  // namespace timeloom
