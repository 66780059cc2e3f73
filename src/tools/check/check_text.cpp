#include "tools/check/check_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/report_text.hpp"
#include "tools/run/json_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kWidestRule = 60;
constexpr double kTooSmall = 1e-3;  // of the unit of a rule

std::string_view verdict_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHolds: return "PASS";
    case Outcome::kBroken: return "FAIL";
    case Outcome::kUnknown: return "ERROR";
    case Outcome::kUndecided: return "UNDECIDED";
  }
  return "";
}

// In the unit of the rule, unless that gives almost nothing. Six digits, or as many as tell it from
// the limit.
std::string measured_text(const Verdict& verdict, double measured) {
  const Rule& rule = verdict.rule;
  const auto text = [&](double value) { return formatted("{:.6g}", rule.unit.from_base(value)); };
  const bool whole = rule.unit.name.empty();  // a number of something
  const double shown = rule.unit.from_base(measured);
  if (!whole && !rule.is_share() && shown < kTooSmall) {
    return rule.is_bytes() ? bytes(static_cast<std::uint64_t>(measured))
                           : duration(measured, {}, " ");
  }
  std::string number = text(measured);
  if (whole || (measured != rule.limit && number == text(rule.limit))) {
    number = formatted("{}", shown);
  }
  const bool space = !rule.unit.name.empty() && !rule.is_share();
  return number + (space ? " " : "") + rule.unit.name;
}

std::string error_range_text(const Verdict& verdict) {
  if (verdict.outcome != Outcome::kUndecided || verdict.error_range.most == 0) return {};
  return " (" + measured_text(verdict, verdict.error_range.least) + " to " +
         measured_text(verdict, verdict.error_range.most) + ")";
}

std::string verdict_place(const CheckedRegion& region) {
  if (region.file.empty() || region.line == 0) return {};
  return formatted(" ({}:{})", region.file.substr(region.file.rfind('/') + 1), region.line);
}

// The region that decided, where the rule does not name it.
std::string deciding_text(const Verdict& verdict) {
  const std::vector<CheckedRegion>& regions = verdict.regions;
  if (regions.empty()) return {};
  const CheckedRegion& first = regions.front();
  const bool named = first.name == verdict.rule.region;
  if (regions.size() == 1) return named ? std::string() : ", " + first.name;
  const std::string name = named ? verdict_place(first) : ", " + first.name;
  const std::size_t broken = verdict.broken();
  if (broken == 0) return name + formatted("; all {} regions hold", regions.size());
  const bool any = verdict.rule.any;
  return name + formatted("; {} of {} regions {}", any ? regions.size() - broken : broken,
                          regions.size(), any ? "hold" : "do not hold");
}

std::string result_text(const Verdict& verdict) {
  if (verdict.outcome == Outcome::kUnknown) return verdict.problem;
  const bool none = verdict.rule.is_of_regions() && verdict.regions.empty();
  const std::string text = none ? "not in the run"
                                : measured_text(verdict, verdict.measured) +
                                      error_range_text(verdict) + deciding_text(verdict);
  return text + (verdict.lacks ? "; the lost parts of the run could change that" : "");
}

ordered_json region_json(const CheckedRegion& region) {
  return {{"name", region.name},
          {"file", region.file},
          {"line", region.line},
          {"measured", region.measured},
          {"holds", region.holds}};
}

CiOutcome ci_outcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHolds: return CiOutcome::kPass;
    case Outcome::kBroken: return CiOutcome::kFail;
    case Outcome::kUnknown: return CiOutcome::kError;
    case Outcome::kUndecided: return CiOutcome::kUndecided;
  }
  return CiOutcome::kError;
}

std::string base_of(const Rule& rule) {
  if (rule.is_share()) return "share";
  if (rule.is_bytes()) return "bytes";
  return rule.unit.name.empty() ? "count" : "s";
}

ordered_json verdict_json(const Verdict& verdict) {
  ordered_json one;
  const Rule& rule = verdict.rule;
  one["rule"] = rule.text;
  std::string outcome(verdict_name(verdict.outcome));
  std::ranges::transform(outcome, outcome.begin(), [](char c) { return c | 0x20; });
  one["outcome"] = outcome;
  one["quantity"] = rule.quantity_text();
  one["unit"] = base_of(rule);
  one["limit"] = rule.limit;
  one["measured"] =
      verdict.outcome == Outcome::kUnknown ? ordered_json() : ordered_json(verdict.measured);
  if (verdict.error_range.most > 0) {
    one["least"] = verdict.error_range.least;
    one["most"] = verdict.error_range.most;
  }
  one["text"] = result_text(verdict);
  one["regions"] = ordered_json::array();
  for (const CheckedRegion& region : verdict.regions) one["regions"].push_back(region_json(region));
  return one;
}

}  // namespace

CiReport ci_report_of(const std::vector<Verdict>& verdicts, const std::vector<std::string>& losses,
                      const std::string& run) {
  CiReport report{"timeloom check", run, {}, losses};
  for (const Verdict& verdict : verdicts) {
    CiResult one{verdict.rule.text, ci_outcome(verdict.outcome), result_text(verdict)};
    if (!verdict.regions.empty()) {
      one.file = verdict.regions.front().file;
      one.line = verdict.regions.front().line;
    }
    report.results.push_back(std::move(one));
  }
  return report;
}

std::string line_of(const Verdict& verdict) {
  return std::string(verdict_name(verdict.outcome)) + " " + result_text(verdict);
}

void write_check(const std::vector<Verdict>& verdicts, const std::vector<std::string>& losses,
                 const Terminal& terminal, Output& output) {
  write_losses(losses, terminal, output);
  std::size_t width = 0;
  std::size_t outcome_width = 5;
  for (const Verdict& verdict : verdicts) {
    outcome_width = std::max(outcome_width, verdict_name(verdict.outcome).size());
    const std::size_t columns = tools::columns(printable(verdict.rule.text));
    if (columns <= kWidestRule) width = std::max(width, columns);
  }
  for (const Verdict& verdict : verdicts) {
    const bool good = verdict.outcome == Outcome::kHolds;
    const std::string outcome = pad_right(verdict_name(verdict.outcome), outcome_width);
    output.write(terminal.paint(outcome, good ? Ink::kAccent : Ink::kWarning) + "  " +
                 pad_right(printable(verdict.rule.text), width) + "  " +
                 printable(result_text(verdict)) + "\n");
  }
  const auto kept = std::ranges::count(verdicts, Outcome::kHolds, &Verdict::outcome);
  output.write(formatted("{} of {} {}\n", kept, plural(verdicts.size(), "rule"),
                         verdicts.size() == 1 ? "holds" : "hold"));
}

void write_check_json(const std::vector<Verdict>& verdicts, const std::vector<std::string>& losses,
                      const std::string& run, Output& output) {
  ordered_json all;
  all["format"] = "timeloom-check";
  all["version"] = 1;
  all["run"] = run;
  all["holds"] = std::ranges::all_of(
      verdicts, [](const Verdict& one) { return one.outcome == Outcome::kHolds; });
  all["losses"] = losses;
  all["rules"] = ordered_json::array();
  for (const Verdict& verdict : verdicts) all["rules"].push_back(verdict_json(verdict));
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
