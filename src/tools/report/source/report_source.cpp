#include "tools/report/source/report_source.hpp"

#include "core/text/plain_text.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {
namespace {

// The share of each line in the samples of the function, and their time; empty: it has none.
std::vector<std::string> heat_of(const view::SourceLines& lines, const Terminal& terminal) {
  if (lines.times.empty()) return {};
  std::uint64_t all = 0;
  for (const view::LineTime& one : lines.times) all += one.ns;
  std::vector<std::string> heat(lines.lines.size(), std::string(14, ' '));
  for (const view::LineTime& one : lines.times) {
    if (one.line < lines.first || one.line - lines.first >= heat.size() || all == 0) continue;
    const double share = static_cast<double>(one.ns) / static_cast<double>(all);
    heat[one.line - lines.first] =
        pad_left(percent(share), 6) + " " +
        pad_left(duration(static_cast<double>(one.ns) * 1e-9, terminal), 7);
  }
  return heat;
}

}  // namespace

view::SourceLines source_of(const Definitions& definitions, RegionId region,
                            const std::vector<std::string>& folders) {
  return view::SourceFiles(".", folders)
      .lines_of(definitions.regions[region.value()], definitions.clock.realtime);
}

void write_source(const view::SourceLines& lines, const Terminal& terminal, Output& output) {
  output.write("\n");
  if (!lines.reason.empty()) return output.write(printable(lines.reason) + "\n");
  output.write(terminal.paint(printable(lines.file), Ink::kAccent) +
               (lines.changed ? "  changed after the start of the run" : "") + "\n");
  const std::vector<std::string> heat = heat_of(lines, terminal);
  std::uint32_t number = lines.first;
  for (const std::string& line : lines.lines) {
    std::string text;  // a tab is a command of the terminal, too
    for (const char byte : line) text += byte == '\t' ? std::string(4, ' ') : std::string(1, byte);
    const std::string before = heat.empty() ? "" : heat[number - lines.first] + " ";
    output.write(before + pad_left(std::to_string(number++), 5) + " " + printable(text) + "\n");
  }
}

}  // namespace timeloom::tools
