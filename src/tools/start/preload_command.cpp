// `timeloom preload`: the value of LD_PRELOAD with which a program of
// the user's own command line is recorded by the wrapper libraries, and the
// variables with which programs that a site starts bring the workers of their
// cluster into the run.
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
  bool dask = false;
};

// Each client of distributed runs this module, which measures the workers of its cluster.
constexpr std::string_view kDaskVariables = "DASK_DISTRIBUTED__CLIENT__PRELOAD=timeloom.dask\n";

bool asks_for_wrappers(const PreloadOptions& options) {
  return options.io != "none" || options.thread != "none" || options.mpi || options.compiler ||
         options.memory;
}

int run_preload(const PreloadOptions& options) {
  if (options.dask && !asks_for_wrappers(options)) return print(std::string(kDaskVariables));
  Settings settings;
  from_words([&] {
    settings.set(kSettings.io, options.io, "--io");
    settings.set(kSettings.thread, options.thread, "--thread");
  });
  if (options.mpi) settings.set(kSettings.mpi, "on", "--mpi");
  if (options.compiler) settings.set(kSettings.compiler, "on", "--compiler");
  if (options.memory) settings.set(kSettings.memory, "on", "--memory");
  const std::string value = preload_value(settings);
  const bool named = !options.print || options.dask;
  return print((named ? std::string(kPreloadVariable) + "=" : "") + value + "\n" +
               (options.dask ? std::string(kDaskVariables) : ""));
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
  known.flag("--dask", options->dask,
             "The variables for a client of a Dask cluster that a site starts, a line each");
  return {known.app(), [options] { return run_preload(*options); }};
}

}  // namespace timeloom::tools
