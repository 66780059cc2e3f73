// `scorep-preload-init`: the value of LD_PRELOAD with which a program of the user's own command
// line is recorded by the wrapper libraries.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "doors/scorep/tools/scorep_commands.hpp"
#include "settings/wrappers.hpp"
#include "tools/command_options.hpp"
#include "tools/start/wrapper_files.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/output.hpp"

namespace timeloom::tools {

namespace {

constexpr char kPreloadUsage[] = R"(Usage: scorep-preload-init [options] [PROGRAM]

Prints the setting of LD_PRELOAD with which a program is recorded by the wrapper libraries. Other
options of Score-P are accepted; nothing depends on them, nor on PROGRAM.

  --io=LIST      posix or isoc: input and output
  --thread=NAME  pthread: threads of native code; omp: OpenMP, as --openmp, --opari and --pomp
  --mpp=NAME     mpi: calls of MPI
  --compiler     compiled code, built with -finstrument-functions
  --value-only   print only the value, without LD_PRELOAD=
  --clean        print nothing: there are no files to remove
  -h, --help     print this help
)";

// As Score-P has it: user regions are recorded all the same.
constexpr char kUserWarning[] =
    "scorep-preload-init: warning: option not suitable for uninstrumented applications: '--user'\n";

enum class Taken : std::uint8_t { kNot, kRecorded, kNothing };

// The value of `thread` that records OpenMP, too.
std::string_view with_openmp(const Settings& settings) {
  return records_threads(settings) ? "pthread,omp" : "omp";
}

// What an option of Score-P's instrumenter asks for; kNot: none of ours.
Taken take(std::string_view word, Settings& settings) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  const auto set = [&](bool asked, SettingId setting, std::string_view choice) {
    if (asked) settings.set(setting, std::string(choice), std::string(name));
    return asked ? Taken::kRecorded : Taken::kNothing;
  };
  const auto has = [&](std::string_view one) { return value.find(one) != std::string_view::npos; };
  if (name == "--io") return set(has("posix") || has("isoc"), kSettings.io, "posix");
  if (name == "--thread" && has("omp")) return set(true, kSettings.thread, with_openmp(settings));
  if (name == "--thread") return set(has("pthread"), kSettings.thread, "pthread");
  if (name == "--openmp" || name == "--opari" || name == "--pomp")
    return set(true, kSettings.thread, with_openmp(settings));
  if (name == "--mpp") return set(has("mpi"), kSettings.mpi, "on");
  if (name == "--compiler") return set(true, kSettings.compiler, "on");
  if (name == "--memory") return set(true, kSettings.memory, "on");
  return name == "--mpi" ? set(true, kSettings.mpi, "on") : Taken::kNot;
}

// Other options are accepted, and the program that is named: nothing depends on them.
int run_scorep_preload(const std::vector<std::string>& words) {
  Settings settings;
  bool value_only = false;
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") return print(kPreloadUsage);
    const Taken taken = take(word, settings);
    if (taken == Taken::kNothing && !word.ends_with("=none")) {
      std::fprintf(stderr, "scorep-preload-init: %s: it is not recorded\n",
                   printable(word).c_str());
    }
    if (taken != Taken::kNot) continue;
    if (word == "--user") std::fputs(kUserWarning, stderr);
    if (word == "--clean") return kDone;
    if (word == "--value-only") value_only = true;
  }
  return print((value_only ? "" : std::string(kPreloadVariable) + "=") + preload_value(settings) +
               "\n");
}

}  // namespace

Command register_scorep_preload(CLI::App& program) {
  CommandOptions known(program, "scorep-preload-init", "The libraries that job scripts preload");
  known.hide();
  return {known.app(), [] { return run_scorep_preload({}); }, run_scorep_preload};
}

}  // namespace timeloom::tools
