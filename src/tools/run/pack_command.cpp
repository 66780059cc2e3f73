// `timeloom pack RUN`: make a trace smaller.

#include <algorithm>
#include <memory>
#include <thread>

#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/run/open_run.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "weave/trace/pack_trace.hpp"

namespace timeloom::tools {

namespace {

int run_pack(const std::optional<std::string>& name) {
  const std::filesystem::path run = open_run(name);
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const weave::PackedSizes sizes = weave::pack_trace(run, threads);
  std::string line = formatted("packed the trace of {}: {} instead of {}", run.string(),
                               bytes(sizes.after), bytes(sizes.before));
  if (sizes.events > 0) {
    line += formatted(", {:.2f} bytes an event",
                      static_cast<double>(sizes.after) / static_cast<double>(sizes.events));
  }
  print_line(line);
  return kDone;
}

}  // namespace

Command register_pack(CLI::App& program) {
  const auto run = std::make_shared<std::optional<std::string>>();
  CommandOptions known(program, "pack",
                       "Make the trace of a run smaller; timeloom convert --to otf2 undoes it");
  known.run(*run);
  return {known.app(), [run] { return run_pack(*run); }};
}

}  // namespace timeloom::tools
