#include "tools/report/lines/report_lines.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "core/error.hpp"
#include "exchange/format_text.hpp"
#include "tools/commands.hpp"
#include "tools/report/report_text.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/open_run.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/wrong_usage.hpp"

namespace timeloom::tools {
namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr std::size_t kMostLineRows = 40;         // --json and --csv have all
constexpr std::size_t kMostLinesOfFunction = 10;  // --with-source shows all

double line_seconds(std::uint64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

double line_share(std::uint64_t ns, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(all);
}

template <typename Row>
std::uint64_t sum_of_lines(const std::vector<Row>& rows) {
  std::uint64_t sum = 0;
  for (const Row& row : rows) sum += row.ns;
  return sum;
}

std::string line_numbers(std::uint64_t ns, std::uint64_t samples, std::uint64_t all,
                         const Terminal& terminal) {
  return pad_left(percent(line_share(ns, all)), 6) + " " +
         pad_left(duration(line_seconds(ns), terminal), 6) + " " + pad_left(count(samples), 7);
}

std::string place_of_line(const run::LineRow& row) {
  return row.file + ":" + (row.source_line == 0 ? "?" : std::to_string(row.source_line));
}

void write_line_table(const LineTimes& times, const Terminal& terminal, Output& output) {
  std::vector<run::LineRow> rows = times.rows();
  std::ranges::stable_sort(rows, std::ranges::greater(), &run::LineRow::ns);
  const std::uint64_t all = sum_of_lines(rows);
  constexpr std::size_t kNumbers = 24, kLeastRoom = 48;
  const std::size_t room = std::max(terminal.width, kNumbers + kLeastRoom) - kNumbers;
  const std::size_t place = room / 2;
  output.write(terminal.paint(" share   time samples  ", Ink::kDim) +
               terminal.paint(pad_right("source line", place + 2), Ink::kAccent) +
               terminal.paint("function", Ink::kDim) + "\n");
  for (const run::LineRow& row : std::span(rows).first(std::min(rows.size(), kMostLineRows))) {
    output.write(
        formatted("{}  {}  {}\n", line_numbers(row.ns, row.samples, all, terminal),
                  pad_right(shorten_path(printable(place_of_line(row)), place, terminal), place),
                  shorten_left(printable(row.function), room - place - 2, terminal)));
  }
  if (rows.size() > kMostLineRows) {
    output.write(formatted("and {} more: --json\n", rows.size() - kMostLineRows));
  }
}

void write_lines_json(const LineTimes& times, const Definitions& definitions, Output& output) {
  using nlohmann::ordered_json;
  ordered_json all = {{"format", "timeloom-report-lines"},
                      {"version", 1},
                      {"seconds", line_seconds(sum_of_lines(times.rows()))},
                      {"lines", ordered_json::array()}};
  for (const run::LineRow& row : times.rows()) {
    all["lines"].push_back(
        {{"function", row.function},
         {"file", row.file},
         {"first_line", row.first_line},
         {"line", row.source_line == 0 ? ordered_json() : ordered_json(row.source_line)},
         {"samples", row.samples},
         {"seconds", line_seconds(row.ns)}});
  }
  all["losses"] = facts_of(definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

void refuse_without_lines(const std::optional<SamplePart>& part, const std::filesystem::path& run) {
  if (read_line_times(run).empty()) {
    throw Error(run.string() +
                " has no samples with source lines; timeloom run --sampling or --sample 1ms takes "
                "them [TL443]");
  }
  if (part) refuse_without_single_samples(run);
}

}  // namespace

LineTimes line_times(const std::optional<SamplePart>& part, const std::filesystem::path& run) {
  return part ? LineTimes(sum_samples(run, *part).lines) : read_line_times(run);
}

int print_lines(const ReportOptions& options, const std::optional<SamplePart>& part,
                const Definitions& definitions, const std::filesystem::path& run) {
  if (!options.output.empty() || options.force) {
    throw WrongUsage("--lines prints its CSV: leave out -o and --force [TL401]");
  }
  refuse_without_lines(part, run);
  const LineTimes times = line_times(part, run);
  Output output;
  if (options.json) {
    for (const std::string& loss : facts_of(definitions).losses) print_line(loss);
    write_lines_json(times, definitions, output);
  } else if (options.csv) {
    for (const std::string& loss : facts_of(definitions).losses) print_line(loss);
    output.write(exchange::utf8(run::line_text(times.rows())));
  } else {
    const Terminal terminal = Terminal::detect(options.colour);
    write_losses(facts_of(definitions).losses, terminal, output);
    write_line_table(times, terminal, output);
  }
  output.flush();
  return kDone;
}

void write_lines_of_function(const std::vector<view::LineTime>& lines, const Terminal& terminal,
                             Output& output) {
  if (lines.empty()) return;
  std::vector<view::LineTime> rows = lines;
  std::ranges::stable_sort(rows, std::ranges::greater(), &view::LineTime::ns);
  const std::uint64_t all = sum_of_lines(rows);
  output.write(terminal.paint(" share   time samples  ", Ink::kDim) +
               terminal.paint("own time by source line, from samples", Ink::kAccent) + "\n");
  for (const view::LineTime& row :
       std::span(rows).first(std::min(rows.size(), kMostLinesOfFunction))) {
    output.write(line_numbers(row.ns, row.samples, all, terminal) + "  " +
                 (row.line == 0 ? "(not known)" : "line " + std::to_string(row.line)) + "\n");
  }
  if (rows.size() > kMostLinesOfFunction) {
    output.write(formatted("and {} more: --json\n", rows.size() - kMostLinesOfFunction));
  }
}

}  // namespace timeloom::tools
