#include "tools/ci/ci_report.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "exchange/format_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

namespace fs = std::filesystem;

// `text` with each character that is in `special` replaced by what stands for it.
std::string replaced(std::string_view text, std::string_view special,
                     const std::vector<std::string_view>& by) {
  std::string result;
  for (const char c : text) {
    const std::size_t which = special.find(c);
    if (which == std::string_view::npos)
      result += c;
    else
      result += by[which];
  }
  return result;
}

// Control characters, which XML does not allow, are replaced as on a terminal. Names of other tools
// need not be UTF-8.
std::string clean(const std::string& text) { return printable(exchange::utf8(text)); }

// In an attribute.
std::string xml(const std::string& text) {
  return replaced(clean(text), "&<>\"'", {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"});
}

std::string message_of_workflow(const std::string& text) {
  return replaced(clean(text), "%\r\n", {"%25", "%0D", "%0A"});
}

std::string property_of_workflow(const std::string& text) {
  return replaced(clean(text), "%\r\n:,", {"%25", "%0D", "%0A", "%3A", "%2C"});
}

std::string markdown(const std::string& text) {
  return replaced(clean(text), "|<>&`\\*_[]~",
                  {"&#124;", "&lt;", "&gt;", "&amp;", "&#96;", "&#92;", "&#42;", "&#95;", "&#91;",
                   "&#93;", "&#126;"});
}

std::string_view word_of(CiOutcome outcome) {
  switch (outcome) {
    case CiOutcome::kPass: return "pass";
    case CiOutcome::kFail: return "fail";
    case CiOutcome::kError: return "error";
    case CiOutcome::kUndecided: return "undecided";
  }
  return "";
}

std::int64_t count_of(const CiReport& report, CiOutcome outcome) {
  return std::ranges::count(report.results, outcome, &CiResult::outcome);
}

// The path of a file below the current directory, by which a service finds it in the repository;
// empty: it is not there.
std::string path_in_repository(const std::string& file) {
  if (file.empty()) return {};
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return {};
  const fs::path path = (here / file).lexically_normal();
  const fs::path relative = path.lexically_relative(here);
  if (relative.empty() || *relative.begin() == ".." || !fs::is_regular_file(path, error)) return {};
  return relative.string();
}

void write_junit(const CiReport& report, Output& output) {
  const std::int64_t failures = count_of(report, CiOutcome::kFail);
  const std::int64_t errors =
      count_of(report, CiOutcome::kError) + count_of(report, CiOutcome::kUndecided);
  const std::string numbers = formatted("tests=\"{}\" failures=\"{}\" errors=\"{}\"",
                                        report.results.size(), failures, errors);
  output.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + numbers +
               ">\n<testsuite name=\"" + xml(report.run) + "\" " + numbers + ">\n");
  for (const CiResult& one : report.results) {
    std::string line =
        "  <testcase classname=\"" + xml(report.command) + "\" name=\"" + xml(one.name) + "\"";
    if (const std::string file = path_in_repository(one.file); !file.empty()) {
      line += formatted(" file=\"{}\"", xml(file));
      if (one.line > 0) line += formatted(" line=\"{}\"", one.line);
    }
    output.write(line);
    if (one.outcome == CiOutcome::kPass) {
      output.write("/>\n");
      continue;
    }
    const std::string element = one.outcome == CiOutcome::kFail ? "failure" : "error";
    output.write(formatted(">\n    <{} type=\"{}\" message=\"{}\"/>\n  </testcase>\n", element,
                           word_of(one.outcome), xml(one.message)));
  }
  for (const std::string& loss : report.losses) {
    output.write("  <system-err>" + xml(loss) + "</system-err>\n");
  }
  output.write("</testsuite>\n</testsuites>\n");
}

void write_github(const CiReport& report, Output& output) {
  for (const std::string& loss : report.losses) {
    output.write("::warning title=" + property_of_workflow(report.command) +
                 "::" + message_of_workflow(report.run + ": " + loss) + "\n");
  }
  for (const CiResult& one : report.results) {
    if (one.outcome == CiOutcome::kPass) continue;
    std::string line = one.outcome == CiOutcome::kUndecided ? "::warning " : "::error ";
    if (const std::string file = path_in_repository(one.file); !file.empty()) {
      line += formatted("file={},", property_of_workflow(file));
      if (one.line > 0) line += formatted("line={},", one.line);
    }
    output.write(line + "title=" + property_of_workflow(report.command) +
                 "::" + message_of_workflow(one.name + ": " + one.message) + "\n");
  }
}

void write_markdown(const CiReport& report, Output& output) {
  const std::int64_t passed = count_of(report, CiOutcome::kPass);
  output.write(formatted("### {}: {} of {} passed\n\n", markdown(report.command), passed,
                         report.results.size()));
  output.write(markdown(report.run) + "\n\n");
  for (const std::string& loss : report.losses) output.write("> ! " + markdown(loss) + "\n\n");
  output.write("| result | rule | measured | file |\n|---|---|---|---|\n");
  for (const CiResult& one : report.results) {
    const std::string file = path_in_repository(one.file);
    std::string place = markdown(file);
    if (!file.empty() && one.line > 0) place += formatted(":{}", one.line);
    output.write(formatted("| {} | {} | {} | {} |\n", word_of(one.outcome), markdown(one.name),
                           markdown(one.message), place));
  }
}

}  // namespace

const std::map<std::string, CiFormat>& ci_formats() {
  static const std::map<std::string, CiFormat> formats = {{"text", CiFormat::kText},
                                                          {"json", CiFormat::kJson},
                                                          {"junit", CiFormat::kJunit},
                                                          {"github", CiFormat::kGithub},
                                                          {"markdown", CiFormat::kMarkdown}};
  return formats;
}

void write_ci_report(const CiReport& report, CiFormat format, Output& output) {
  if (format == CiFormat::kJunit) return write_junit(report, output);
  if (format == CiFormat::kGithub) return write_github(report, output);
  write_markdown(report, output);
}

}  // namespace timeloom::tools
