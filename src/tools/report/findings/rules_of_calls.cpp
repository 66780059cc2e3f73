// Rules about single functions.

#include <algorithm>

#include "core/text/shell_word.hpp"
#include "core/throttled.hpp"
#include "profile/growing_calls.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr double kMuchGrowing = 0.15;          // of the work, with the calls inside
constexpr double kMuchTiny = 0.25;             // of the work, its own
constexpr double kTiny = 1e-6;                 // seconds of own time a call
constexpr std::int64_t kVeryMany = 1'000'000;  // calls
constexpr double kFewCalls = 0.1;              // made by each

// With the work of its own and of what it calls.
const FunctionRow* row_of(const FoundIn& run, const std::string& entry) {
  const auto& rows = run.answer.functions();
  const auto found = std::ranges::find_if(rows, [&](const FunctionRow& row) {
    return row.region.defined() &&
           region_entry(run.tree.definitions.regions[row.region.value()]) == entry;
  });
  return found == rows.end() ? nullptr : &*found;
}

// Its visits are the values that it yields, which is how Python is written.
bool is_expression(const Region& region) { return region.name.ends_with("<genexpr>"); }

std::string function_name(const FoundIn& run, RegionId region) {
  return printable(run.answer.region_name(region));
}

}  // namespace

void find_growing_calls(const FoundIn& run, Findings& findings) {
  const auto& properties = run.tree.definitions.properties;
  const auto known = properties.find(profile::kGrowingCalls);
  if (known == properties.end()) return;
  for (const profile::GrowingCalls& one : profile::growing_calls_of(known->second)) {
    const FunctionRow* const row = row_of(run, one.entry);
    if (row == nullptr || row->total < kMuchGrowing * run.answer.times().all_working) continue;
    const double early = static_cast<double>(one.early) * 1e-9;
    const double late = static_cast<double>(one.late) * 1e-9;
    const std::string callers = one.callers > 1 ? formatted(" from {} functions", one.callers) : "";
    const std::string name = function_name(run, row->region);
    const auto visits = static_cast<std::uint64_t>(row->visits);
    const std::string all = duration(row->total, run.terminal, " ");
    // Calls from other places do not grow; their times are known together only.
    const std::string times =
        one.visits < visits
            ? formatted(" in {} of {} calls: {} in all", count(one.visits), count(visits), all)
            : formatted(": {} in {} calls", all, count(visits));
    findings.push_back(
        {"growing-calls",
         formatted("calls of {}{} grow from {} to {} each{}", name, callers,
                   duration(early, run.terminal, " "), duration(late, run.terminal, " "), times),
         "report --function " + shell_word(name),
         row->total,
         {{"visits", static_cast<double>(row->visits)},
          {"growing_visits", static_cast<double>(std::min(one.visits, visits))},
          {"early_s", early},
          {"late_s", late},
          {"callers", static_cast<double>(one.callers)},
          {"working_s", row->total}}});
  }
}

void find_tiny_calls(const FoundIn& run, Findings& findings) {
  const double all = run.answer.times().all_working;
  for (const FunctionRow& row : run.answer.functions()) {
    if (!row.region.defined() || run.answer.owner().is_import(row.region)) continue;
    if (is_expression(run.tree.definitions.regions[row.region.value()])) continue;
    const auto visits = static_cast<double>(row.visits);
    if (row.visits < kVeryMany || row.working > kTiny * visits) continue;
    if (row.working < kMuchTiny * all || static_cast<double>(row.calls) > kFewCalls * visits) {
      continue;
    }
    const std::string name = function_name(run, row.region);
    findings.push_back(
        {"tiny-calls",
         formatted("{} calls of {} take {} each, {} of the work; a part of it is the measuring",
                   count(static_cast<std::uint64_t>(row.visits)), name,
                   duration(row.working / visits, run.terminal, " "), percent(row.working / all)),
         "report --compensate",
         row.working,
         {{"visits", visits}, {"working_s", row.working}, {"share", row.working / all}}});
  }
}

}  // namespace timeloom::tools
