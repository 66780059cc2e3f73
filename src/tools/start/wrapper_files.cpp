#include "tools/start/wrapper_files.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "settings/openmp_runtime.hpp"
#include "tools/run/open_run.hpp"
#include "tools/start/find_python.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

namespace {

// Beside libtimeloom.so: of this program's package, of the Python beside it, or of an installation
// or a build without Python.
std::vector<fs::path> directories() {
  const fs::path bin = fs::path(own_executable()).parent_path();
  std::vector<fs::path> result = {bin.parent_path() / "lib"};
  try {
    const std::string package = find_python(own_executable()).package;
    if (!package.empty()) result.push_back(fs::path(package) / "lib");
  } catch (const Error&) {  // there is no Python
  }
  result.push_back(bin.parent_path() / "lib" / TIMELOOM_LIBRARY_ARCHITECTURE);
  result.push_back(bin.parent_path() / "preload");
  return result;
}

// Empty: it is in none of them.
std::string file_in(const std::vector<fs::path>& places, std::string_view library) {
  for (const fs::path& place : places) {
    std::error_code error;
    const fs::path file = place / library;
    if (fs::exists(file, error)) return file.string();
  }
  return {};
}

}  // namespace

std::string kokkos_value(const Settings& settings, const std::string& present) {
  if (!settings.flag(kSettings.kokkos)) return {};
  if (!present.empty() && !present.ends_with(kKokkosLibrary)) {
    print_line("Kokkos is not recorded: " + std::string(kKokkosVariable) +
               " names the library of another tool, " + present + "; unset it [TL027]");
    return {};
  }
  const std::string file = file_in(directories(), kKokkosLibrary);
  if (file.empty())
    print_line("Kokkos is not recorded: this Timeloom has no library for it [TL026]");
  return file;
}

std::vector<std::string> files_of(std::span<const Wrapper> wrappers) {
  std::vector<std::string> files;
  const std::vector<fs::path> places = directories();
  for (const Wrapper& wrapper : wrappers) {
    const std::string file = file_in(places, wrapper.library);
    if (!file.empty()) {
      files.push_back(file);
      continue;
    }
    print_line(std::string(wrapper.what) +
               " not recorded: this Timeloom has no wrapper for it [TL022]");
  }
  return files;
}

std::vector<std::string> preloaded_files(const Settings& settings) {
  std::vector<std::string> files = files_of(wanted_wrappers(settings));
  if (files.empty() || !replaces_openmp(settings)) return files;
  std::string runtime = llvm_openmp_file({});
  print_line(runtime.empty() ? kOpenMpMissing : kOpenMpReplaced);
  if (!runtime.empty()) files.push_back(std::move(runtime));
  return files;
}

std::string preload_value(const Settings& settings) {
  return with_libraries({}, preloaded_files(settings));
}

}  // namespace timeloom::tools
