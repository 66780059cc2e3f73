#include "tools/report/source/report_source.hpp"

#include "core/text/plain_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

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
  std::uint32_t number = lines.first;
  for (const std::string& line : lines.lines) {
    std::string text;  // a tab is a command of the terminal, too
    for (const char byte : line) text += byte == '\t' ? std::string(4, ' ') : std::string(1, byte);
    output.write(formatted("{} {}\n", pad_left(std::to_string(number++), 5), printable(text)));
  }
}

}  // namespace timeloom::tools
