// `scorep-config`: what build scripts call on the way to Score-P. Nothing has to be compiled or
// linked for Timeloom, so the answers are empty, and the scripts go on.
#include <algorithm>
#include <array>
#include <string_view>

#include "doors/scorep/settings/scorep_settings.hpp"
#include "doors/scorep/tools/scorep_commands.hpp"
#include "tools/command_options.hpp"
#include "tools/run/open_run.hpp"
#include "tools/text/output.hpp"

namespace timeloom::tools {

namespace {

constexpr char kConfigUsage[] = R"(Usage: scorep-config [options]

Answers build scripts for Score-P. Nothing has to be compiled or linked, so most answers are empty.

  --version   print the version of Score-P whose conventions are followed
  -h, --help  print this help
  --cflags, --cppflags, --cxxflags, --ldflags, --libs, --mgmt-libs, --preload-libs, --incldir, --adapter-init, --remap-specfile
              print an empty line: nothing has to be compiled, linked or loaded
  --mpp, --thread, --io, --mutex, --libwrap=NAME
              accepted: what is recorded is chosen when the program runs
  --user, --compiler, --pomp, --openmp, --opari, --memory, --cuda, --opencl, --openacc, --kokkos, --hip
              accepted: what is recorded is chosen when the program runs; --nouser and the like, too

Exit status: 0 done, 1 something was wrong.
)";

constexpr std::array<std::string_view, 10> kEmptyAnswers = {
    "--cflags",    "--cppflags",     "--cxxflags", "--ldflags",      "--libs",
    "--mgmt-libs", "--preload-libs", "--incldir",  "--adapter-init", "--remap-specfile"};
constexpr std::array<std::string_view, 11> kChoices = {"user",    "compiler", "pomp", "openmp",
                                                       "opari",   "memory",   "cuda", "opencl",
                                                       "openacc", "kokkos",   "hip"};
constexpr std::array<std::string_view, 5> kChoicesWithValue = {
    "--mpp=", "--thread=", "--io=", "--mutex=", "--libwrap="};

// --user, --nouser, --mpp=none and the like.
bool chooses(std::string_view word) {
  const auto begins = [&](std::string_view prefix) { return word.starts_with(prefix); };
  if (std::ranges::any_of(kChoicesWithValue, begins)) return true;
  if (!word.starts_with("--")) return false;
  word.remove_prefix(2);
  if (word.starts_with("no")) word.remove_prefix(2);
  return std::ranges::find(kChoices, word) != kChoices.end();
}

int run_config(const std::vector<std::string>& words) {
  std::string answer;
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") return print(kConfigUsage);
    if (word == "--version") {
      answer = std::string(kScorepVersion);
    } else if (!chooses(word) && std::ranges::find(kEmptyAnswers, word) == kEmptyAnswers.end()) {
      print_line("scorep-config: unknown option '" + word + "'; see scorep-config --help");
      return kFailed;
    }
  }
  return print(answer + "\n");
}

}  // namespace

Command register_scorep_config(CLI::App& program) {
  CommandOptions known(program, "scorep-config", "Answers to build scripts for Score-P");
  known.hide();
  return {known.app(), [] { return run_config({}); }, run_config};
}

}  // namespace timeloom::tools
