#include "tools/report/native/native_view.hpp"

#include <string>

#include "core/error.hpp"
#include "exchange/format_text.hpp"
#include "tools/commands.hpp"
#include "tools/report/native/report_native.hpp"
#include "tools/report/report_text.hpp"
#include "tools/run/open_run.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/wrong_usage.hpp"

namespace timeloom::tools {
namespace {

void write_native_text(const ReportOptions& options, const NativeTimes& times,
                       const Definitions& definitions, Output& output) {
  const Terminal terminal = Terminal::detect(options.colour);
  write_losses(facts_of(definitions).losses, terminal, output);
  write_native(times, definitions, terminal, output);
}

void refuse_without_samples(const std::optional<SamplePart>& part,
                            const std::filesystem::path& run) {
  if (run::read_sample_rows(run).empty()) {
    throw Error(run.string() + " has no samples; timeloom run --sample 1ms takes them [TL461]");
  }
  if (part) refuse_without_single_samples(run);
}

}  // namespace

NativeTimes native_times(const std::optional<SamplePart>& part, const Definitions& definitions,
                         const std::filesystem::path& run) {
  if (!part) return read_native_times(run, definitions);
  return {sum_samples(run, *part).rows, definitions};
}

int print_native(const ReportOptions& options, const std::optional<SamplePart>& part,
                 const Definitions& definitions, const std::filesystem::path& run) {
  if (!options.output.empty() || options.force) {
    throw WrongUsage("--native prints its CSV: leave out -o and --force [TL401]");
  }
  refuse_without_samples(part, run);
  const NativeTimes times = native_times(part, definitions, run);
  Output output;
  if (options.json || options.csv) {
    for (const std::string& loss : facts_of(definitions).losses) print_line(loss);
    if (options.csv) {
      output.write(exchange::utf8(run::sample_text(times.rows())));
    } else {
      write_native_json(times, definitions, output);
    }
  } else {
    write_native_text(options, times, definitions, output);
  }
  output.flush();
  return kDone;
}

}  // namespace timeloom::tools
