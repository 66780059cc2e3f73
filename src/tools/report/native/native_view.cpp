#include "tools/report/native/native_view.hpp"

#include <string>

#include "core/error.hpp"
#include "tools/commands.hpp"
#include "tools/report/native/report_native.hpp"
#include "tools/report/report_text.hpp"
#include "tools/run/open_run.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/wrong_usage.hpp"

namespace timeloom::tools {
namespace {

bool of_all_threads(const ReportOptions& options) {
  return options.threads.empty() && options.groups.empty() && options.from.empty() &&
         options.to.empty();
}

void write_native_text(const ReportOptions& options, const NativeTimes& times,
                       const Definitions& definitions, Output& output) {
  const Terminal terminal = Terminal::detect(options.colour);
  write_losses(facts_of(definitions).losses, terminal, output);
  write_native(times, definitions, terminal, output);
}

}  // namespace

NativeTimes native_times(const ReportOptions& options, const profile::CallTree& tree,
                         const std::filesystem::path& run) {
  if (!of_all_threads(options)) return {};
  return read_native_times(run, tree.definitions);
}

int print_native(const ReportOptions& options, const std::filesystem::path& run) {
  if (!of_all_threads(options)) {
    print_line(
        "--native shows all of the run: leave out --thread, --group, --from and --to; see "
        "'timeloom report --help' [TL401]");
    return kWrongUsage;
  }
  const profile::CallTree tree = call_tree_of(run);
  const NativeTimes times = read_native_times(run, tree.definitions);
  if (times.empty()) {
    throw Error(run.string() + " has no samples; timeloom run --sample 1ms takes them [TL461]");
  }
  Output output;
  if (options.json) {
    for (const std::string& loss : facts_of(tree.definitions).losses) print_line(loss);
    write_native_json(times, tree.definitions, output);
  } else {
    write_native_text(options, times, tree.definitions, output);
  }
  output.flush();
  return kDone;
}

}  // namespace timeloom::tools
