// `timeloom weave RUN`: turn the spools of a run into a trace and tables.

#include <unistd.h>

#include <memory>

#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/open_run.hpp"
#include "tools/output.hpp"

namespace timeloom::tools {

namespace {

struct WeaveCommandOptions {
  std::string run;
  weave::WeaveOptions weave;
  std::optional<std::uint32_t> threads;
};

int run_weave(WeaveCommandOptions options) {
  const std::filesystem::path run = weave::find_run(options.run);
  Output output;
  if (!weave::unfinished(run)) {
    output.write(run.string() + " is woven already: nothing to do\n");
  } else {
    options.weave.progress = isatty(STDERR_FILENO) == 1;
    if (options.threads) options.weave.threads = *options.threads;
    const weave::WeaveSummary summary = weave::weave(run, options.weave);
    output.write(run.string() + ": " + describe(summary) + "\n");
    warn_of_depth(summary);
  }
  output.flush();
  return kDone;
}

}  // namespace

Command register_weave(CLI::App& program) {
  const auto options = std::make_shared<WeaveCommandOptions>();
  CommandOptions known(program, "weave", "Turn what an unfinished run recorded into a trace");
  known.positional("RUN", options->run, "Run directory");
  known.flag("--keep-spool", options->weave.keep_spool,
             "Do not remove the recorded data afterwards");
  known.count("--threads", "N", options->threads, {1, 65536, "a number of threads, 1 or more"},
              "Threads that weave (default: one a core)");
  return {known.app(), [options] { return run_weave(*options); }};
}

}  // namespace timeloom::tools
