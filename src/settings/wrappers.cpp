#include "settings/wrappers.hpp"

#include <algorithm>
#include <array>

#include "core/text/joined.hpp"
#include "settings/launched_rank.hpp"
#include "settings/openmp_runtime.hpp"

namespace timeloom {
namespace {

constexpr std::string_view kOpenMpWrapper = "libtimeloom_wrap_openmp.so";

constexpr std::array kWrappers = {
    Wrapper{kSettings.io, "libtimeloom_wrap_io.so", "--io posix", "input and output is"},
    Wrapper{kSettings.thread, "libtimeloom_wrap_thread.so", "--thread pthread",
            "threads of native code are"},
    Wrapper{kSettings.mpi, "libtimeloom_wrap_mpi.so", "--mpi", "MPI is"},
    Wrapper{kSettings.thread, kOpenMpWrapper, "--thread omp", "OpenMP is"},
    Wrapper{kSettings.compiler, "libtimeloom_wrap_compiler.so", "--compiler", "compiled code is"},
    Wrapper{kSettings.memory, "libtimeloom_wrap_memory.so", "--memory", "memory is"},
};

bool asked_for(const Settings& settings, const Wrapper& wrapper) {
  if (wrapper.setting == kSettings.io) return settings.text(kSettings.io) != "none";
  if (wrapper.library == kOpenMpWrapper) return records_openmp(settings);
  if (wrapper.setting == kSettings.thread) return records_threads(settings);
  if (wrapper.setting == kSettings.compiler) return settings.flag(kSettings.compiler);
  if (wrapper.setting == kSettings.memory) return records_memory(settings);
  return settings.flag(kSettings.mpi);
}

// Compiled code may be recorded without its wrapper library, so that one keeps no other awake, nor
// does memory, which is asked for by its setting alone.
bool refused(const Settings& settings, const Wrapper& wrapper) {
  const bool decided = settings.given(wrapper.setting) || wrapper.setting == kSettings.compiler ||
                       wrapper.setting == kSettings.memory;
  return decided && !asked_for(settings, wrapper);
}

// The linker accepts blanks and colons between names.
std::vector<std::string_view> names_in(std::string_view value) {
  std::vector<std::string_view> names;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find_first_of(" :"), value.size());
    if (end > 0) names.push_back(value.substr(0, end));
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return names;
}

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool records_threads(const Settings& settings) {
  return settings.text(kSettings.thread).starts_with("pthread");
}

bool records_memory(const Settings& settings) {
  return settings.flag(kSettings.memory) || settings.flag(kSettings.memory_python) ||
         settings.flag(kSettings.memory_all) || settings.flag(kSettings.memory_events);
}

bool records_openmp(const Settings& settings) {
  return settings.text(kSettings.thread).find("omp") != std::string::npos;
}

bool replaces_openmp(const Settings& settings) {
  return settings.text(kSettings.thread).ends_with("omp:libomp");
}

std::span<const Wrapper> all_wrappers() noexcept { return kWrappers; }

// Ranks of torchrun are not MPI ranks, nor are child processes of a rank.
void ask_for_mpi(Settings& settings, const char* const* environment) {
  if (settings.given(kSettings.mpi)) return;
  const auto rank = launched_rank_of_this_process(environment);
  if (rank && rank->of_mpi()) {
    settings.set(kSettings.mpi, "on", "the launcher");
  }
}

std::vector<Wrapper> wanted_wrappers(const Settings& settings) {
  std::vector<Wrapper> wanted;
  if (settings.text(kSettings.results) == "none") return wanted;
  std::ranges::copy_if(kWrappers, std::back_inserter(wanted),
                       [&](const Wrapper& one) { return asked_for(settings, one); });
  return wanted;
}

bool refuses_wrappers(const Settings& settings) {
  return std::ranges::all_of(kWrappers, [&](const Wrapper& one) { return refused(settings, one); });
}

bool preloads(std::string_view value, std::string_view library) {
  return std::ranges::any_of(names_in(value),
                             [&](std::string_view name) { return file_of(name) == library; });
}

std::string with_libraries(std::string_view value, std::span<const std::string> files) {
  std::vector<std::string_view> names(files.begin(), files.end());
  std::ranges::copy(names_in(value), std::back_inserter(names));
  return joined(names, ":");
}

std::string without_wrappers(std::string_view value, bool nor_llvm_openmp) {
  std::vector<std::string_view> names = names_in(value);
  if (nor_llvm_openmp) {
    std::erase_if(names, [](std::string_view name) {
      return std::ranges::find(kLlvmOpenMp, file_of(name)) != std::end(kLlvmOpenMp);
    });
  }
  std::erase_if(names, [](std::string_view name) {
    return std::ranges::any_of(kWrappers,
                               [&](const Wrapper& one) { return file_of(name) == one.library; });
  });
  return joined(names, ":");
}

std::string with_any_link_order(std::string_view options) {
  constexpr std::string_view kLinkOrder = "verify_asan_link_order";
  if (options.find(kLinkOrder) != std::string_view::npos) return std::string(options);
  std::string result = std::string(kLinkOrder) + "=0";
  if (!options.empty()) result += ":" + std::string(options);
  return result;
}

}  // namespace timeloom
