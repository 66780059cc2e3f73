#include "tools/report/findings/findings_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "os/read_file.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::string_view kMark = "> ";
constexpr std::string_view kIndent = "  ";
constexpr std::size_t kMostFindings = 3;

// Adds lines of whole words.
void add_wrapped(const std::string& text, std::size_t width, std::vector<std::string>& lines) {
  std::string line(kMark);
  for (const std::string_view word : os::pieces_of(text, ' ')) {
    const bool first = line.size() == kMark.size();
    if (!first && columns(line) + 1 + columns(word) > width) {
      lines.push_back(std::exchange(line, std::string(kIndent)));
    } else if (!first) {
      line += ' ';
    }
    line += word;
  }
  lines.push_back(line);
}

}  // namespace

std::vector<std::string> finding_lines(const Findings& findings, const Terminal& terminal) {
  std::vector<std::string> lines;
  for (const Finding& one : std::span(findings).first(std::min(findings.size(), kMostFindings))) {
    add_wrapped(one.text, terminal.width, lines);
    const std::string command = "timeloom " + one.command;
    const std::size_t used = columns(lines.back());
    if (used + 2 + columns(command) <= terminal.width) {
      lines.back() += terminal.paint("  " + command, Ink::kDim);
    } else {
      lines.push_back(terminal.paint(std::string(kIndent) + command, Ink::kDim));
    }
  }
  if (findings.size() > kMostFindings) {
    const std::size_t more = findings.size() - kMostFindings;
    lines.push_back(terminal.paint(
        std::string(kIndent) + "and " + plural(more, "more finding") + ": timeloom report --json",
        Ink::kDim));
  }
  return lines;
}

nlohmann::ordered_json findings_json(const Findings& findings) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Finding& one : findings) {
    nlohmann::ordered_json evidence = nlohmann::ordered_json::object();
    for (const auto& [name, value] : one.evidence) evidence[name] = value;
    all.push_back({{"rule", one.rule},
                   {"text", one.text},
                   {"command", "timeloom " + one.command},
                   {"at_stake_s", one.seconds},
                   {"evidence", evidence}});
  }
  return all;
}

}  // namespace timeloom::tools
