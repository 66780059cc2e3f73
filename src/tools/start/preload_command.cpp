// `timeloom preload`: the value of LD_PRELOAD with which a program of
// the user's own command line is recorded by the wrapper libraries.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "settings/wrappers.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/start/wrapper_files.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/output.hpp"
#include "tools/text/wrong_usage.hpp"

namespace timeloom::tools {

namespace {

struct PreloadOptions {
  bool print = false;  // only the value
  std::string io = "none";
  std::string thread = "none";
  bool mpi = false;
  bool compiler = false;
  bool memory = false;
};

int run_preload(const PreloadOptions& options) {
  Settings settings;
  from_words([&] {
    settings.set(kSettings.io, options.io, "--io");
    settings.set(kSettings.thread, options.thread, "--thread");
  });
  if (options.mpi) settings.set(kSettings.mpi, "on", "--mpi");
  if (options.compiler) settings.set(kSettings.compiler, "on", "--compiler");
  if (options.memory) settings.set(kSettings.memory, "on", "--memory");
  const std::string value = preload_value(settings);
  return print((options.print ? "" : std::string(kPreloadVariable) + "=") + value + "\n");
}

}  // namespace

Command register_preload(CLI::App& program) {
  const auto options = std::make_shared<PreloadOptions>();
  CommandOptions known(program, "preload",
                       "Print what to preload so that I/O, threads and MPI are recorded");
  known.flag("--print", options->print, "only the value, without LD_PRELOAD=");
  known.text("--io", "WHAT", options->io, "posix: input and output");
  known.text("--thread", "WHAT", options->thread, "pthread: threads of native code; omp: OpenMP");
  known.flag("--mpi", options->mpi, "calls of MPI");
  known.flag("--compiler", options->compiler, "compiled code, built with -finstrument-functions");
  known.flag("--memory", options->memory, "allocations of memory");
  return {known.app(), [options] { return run_preload(*options); }};
}

}  // namespace timeloom::tools
