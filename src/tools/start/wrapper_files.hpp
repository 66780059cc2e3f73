// Where the wrapper libraries lie (src/preload), seen from the program `timeloom`. Main thread;
// reads the file system only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "settings/wrappers.hpp"

namespace timeloom::tools {

// The files of these wrappers. If one is not installed, a line on stderr names the records that the
// run will lack.
std::vector<std::string> files_of(std::span<const Wrapper> wrappers);

// The files that a program with these settings is to load: the wanted wrappers, and LLVM's OpenMP
// runtime where it is to serve code of GNU's, with a line about it.
std::vector<std::string> preloaded_files(const Settings& settings);

// The value of LD_PRELOAD with which the wanted libraries are loaded. A missing library is reported
// as above.
std::string preload_value(const Settings& settings);

// The value of KOKKOS_TOOLS_LIBS, which is `present` now, with which Kokkos loads our library;
// empty: the settings do not ask for it, or a line on stderr gives the obstacle.
std::string kokkos_value(const Settings& settings, const std::string& present);

}  // namespace timeloom::tools
