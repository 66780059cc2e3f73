#include "tools/check/check_judge.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/measuring_cost.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/throttled.hpp"
#include "settings/settings.hpp"
#include "tools/check/check_memory.hpp"
#include "tools/check/check_work.hpp"
#include "tools/report/mpi/mpi_efficiency.hpp"
#include "tools/report/report_rows.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/run/run_losses.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kMostRuleSuggestions = 3;

bool is_pattern(const std::string& name) { return name.find_first_of("*?[") != std::string::npos; }

std::string_view last_part_of_rule(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

double figure(const Figures& figures, const Rule& rule) {
  switch (rule.quantity) {
    case Quantity::kTotal: return rule.is_share() ? figures.inclusive_share : figures.inclusive;
    case Quantity::kSelf: return rule.is_share() ? figures.exclusive_share : figures.exclusive;
    case Quantity::kVisits: return static_cast<double>(figures.visits);
    case Quantity::kMin: return figures.min;
    case Quantity::kMax: return figures.max;
    case Quantity::kWork: return figures.working;
    case Quantity::kWaiting: return figures.waiting;
    default: return figures.mean;
  }
}

bool of_visits(const Rule& rule) {
  return rule.quantity == Quantity::kVisits || rule.quantity == Quantity::kMean ||
         rule.quantity == Quantity::kMin || rule.quantity == Quantity::kMax;
}

// How far beyond the limit: the larger, the worse.
double excess(const Rule& rule, double measured) {
  switch (rule.comparison) {
    case Comparison::kLess:
    case Comparison::kAtMost: return measured - rule.limit;
    case Comparison::kMore:
    case Comparison::kAtLeast: return rule.limit - measured;
    case Comparison::kEqual: return std::abs(measured - rule.limit);
  }
  return 0;
}

// Whether a larger value cannot change the answer.
bool holds_beyond(const Rule& rule, double measured) {
  switch (rule.comparison) {
    case Comparison::kLess:
    case Comparison::kAtMost: return !rule.holds(measured);
    case Comparison::kMore:
    case Comparison::kAtLeast: return rule.holds(measured);
    case Comparison::kEqual: return measured > rule.limit;
  }
  return false;
}

// Whether more visits, of a function that was not timed to the end, or more time in these cannot
// change the answer.
bool is_certain_verdict(const Rule& rule, double measured) {
  const bool grows = rule.quantity == Quantity::kVisits || rule.quantity == Quantity::kTotal ||
                     rule.quantity == Quantity::kSelf || rule.quantity == Quantity::kMax ||
                     rule.quantity == Quantity::kWork || rule.quantity == Quantity::kWaiting ||
                     rule.quantity == Quantity::kCollections ||
                     (is_of_memory(rule.quantity) && rule.quantity != Quantity::kHeld);
  return grows && !rule.is_share() && holds_beyond(rule, measured);
}

// Whether the lost parts of a run cannot change the answer.
bool is_certain_verdict(const Rule& rule, double measured, LossEffect effect) {
  if (effect == LossEffect::kNone) return true;
  const bool counts = rule.quantity == Quantity::kVisits || rule.quantity == Quantity::kThreads ||
                      rule.quantity == Quantity::kProcesses;
  if (counts) return effect < LossEffect::kAny && holds_beyond(rule, measured);
  if (effect > LossEffect::kMore) return false;
  return rule.quantity == Quantity::kWall ? holds_beyond(rule, measured)
                                          : is_certain_verdict(rule, measured);
}

std::optional<double> efficiency_of(const profile::CallTree& tree, Quantity quantity) {
  const std::optional<MpiEfficiency> one = mpi_efficiency(tree);
  if (!one) return std::nullopt;
  if (quantity == Quantity::kBalance) return one->load_balance;
  return quantity == Quantity::kCommunication ? one->communication : one->parallel();
}

class Judge {
 public:
  explicit Judge(const profile::CallTree& tree)
      : tree_(tree),
        definitions_(tree.definitions),
        effect_(effect_of(losses_of(tree.definitions))),
        work_(tree),
        memory_(tree),
        data_(tree, {}),
        rows_(data_.flat_rows({})) {
    std::erase_if(rows_.rows, [](const Row& row) { return !row.region.defined(); });
  }

  Verdict judge(const Rule& rule) const {
    Verdict verdict;
    verdict.rule = rule;
    if (rule.is_of_regions())
      judge_regions(verdict);
    else if (rule.quantity == Quantity::kOverhead)
      judge_overhead(verdict);
    else if (is_of_memory(rule.quantity))
      judge_memory(verdict);
    else
      judge_run(verdict);
    return verdict;
  }

 private:
  void judge_run(Verdict& verdict) const {
    const RunFacts facts = facts_of(definitions_);
    std::optional<double> measured;
    verdict.problem = work_.problem(verdict.rule);
    if (!verdict.problem.empty()) return;
    switch (verdict.rule.quantity) {
      case Quantity::kWork:
      case Quantity::kWaiting:
      case Quantity::kCollections: measured = work_.of_run(verdict.rule); break;
      case Quantity::kThreads: measured = static_cast<double>(facts.threads); break;
      case Quantity::kProcesses: measured = static_cast<double>(facts.processes); break;
      case Quantity::kEfficiency:
      case Quantity::kBalance:
      case Quantity::kCommunication: measured = efficiency_of(tree_, verdict.rule.quantity); break;
      default: measured = facts.wall_seconds; break;
    }
    if (!measured) {
      verdict.problem = "the run has no calls of MPI";
      return;
    }
    verdict.measured = *measured;
    settle(verdict, verdict.rule.holds(*measured),
           is_certain_verdict(verdict.rule, *measured, effect_));
  }

  static void settle(Verdict& verdict, bool holds, bool certain) {
    verdict.lacks = !certain;
    verdict.outcome = !certain ? Outcome::kUndecided : holds ? Outcome::kHolds : Outcome::kBroken;
  }

  void judge_overhead(Verdict& verdict) const {
    const std::optional<MeasuringCost> cost = measuring_cost_of(definitions_.properties);
    if (!cost) {
      verdict.problem = "the run does not say what measuring it cost";
      return;
    }
    if (const std::uint64_t unknown = cost->unknown_processes(); unknown > 0) {
      verdict.problem = plural(unknown, "process") +
                        " of the run (killed, become another program, or still running) did not "
                        "say it";
      return;
    }
    const Shares shares = shares_of(*cost);
    verdict.measured = shares.cpu;
    verdict.error_range = shares.cpu_error_range;
    const bool holds = verdict.rule.holds(verdict.measured);
    const bool decided = verdict.rule.holds(verdict.error_range.least) == holds &&
                         verdict.rule.holds(verdict.error_range.most) == holds;
    // To lose events takes time, too, which is not in the estimate.
    const bool whole =
        effect_ == LossEffect::kNone || holds_beyond(verdict.rule, verdict.error_range.least);
    settle(verdict, holds, whole);
    if (!decided) verdict.outcome = Outcome::kUndecided;
  }

  void judge_memory(Verdict& verdict) const {
    const Rule& rule = verdict.rule;
    verdict.problem = memory_.problem(rule);
    if (!verdict.problem.empty()) return;
    const MemoryFigures::Amount amount = memory_.of_run(rule);
    verdict.measured = amount.value;
    verdict.error_range = amount.range;
    // Counts and the peak are right where tables were full.
    const bool lacks_blocks = rule.quantity == Quantity::kHeld && memory_.is_incomplete();
    const LossEffect effect = lacks_blocks ? std::max(effect_, LossEffect::kMore) : effect_;
    settle(verdict, rule.holds(amount.value), is_certain_verdict(rule, amount.value, effect));
    if (!is_beyond_error(rule, amount.range)) verdict.outcome = Outcome::kUndecided;
  }

  // Whether the rule has one answer in the whole range of an estimate.
  static bool is_beyond_error(const Rule& rule, const ErrorRange& range) {
    return range.most == 0 || rule.holds(range.least) == rule.holds(range.most);
  }

  // Of paths that found no place in the tables, the region that allocated is unknown.
  bool is_certain_amount(const Rule& rule, const MemoryFigures::Amount& amount) const {
    const LossEffect effect =
        memory_.is_incomplete() ? std::max(effect_, LossEffect::kMore) : effect_;
    return is_certain_verdict(rule, amount.value, effect) && is_beyond_error(rule, amount.range);
  }

  void judge_memory_of_regions(Verdict& verdict) const {
    const Rule& rule = verdict.rule;
    verdict.problem = memory_.problem(rule);
    if (!verdict.problem.empty()) return;
    for (const Row& row : matching(rule.region)) {
      const Region& region = data_.region(row.region);
      const MemoryFigures::Amount amount = memory_.of_region(rule, row.region);
      verdict.regions.push_back({data_.region_name(row.region), region.file, region.first_line,
                                 amount.value, rule.holds(amount.value),
                                 is_certain_amount(rule, amount), amount.range});
    }
    if (verdict.regions.empty()) return void(verdict.problem = unknown(rule.region));
    decide_regions(verdict);
  }

  // Of a time that is estimated from samples (--overhead); zeros: of another one.
  static ErrorRange error_range_of(const Rule& rule, const Figures& figures, double measured) {
    Estimate estimate;
    if (rule.quantity == Quantity::kTotal) estimate = figures.total_estimate;
    if (rule.quantity == Quantity::kSelf || rule.quantity == Quantity::kWork) {
      estimate = figures.own_estimate;
    }
    if (!estimate.any() || rule.is_share()) return {};
    return {std::max(0.0, measured - estimate.error()), measured + estimate.error()};
  }

  void decide_regions(Verdict& verdict) const {
    decide(verdict);
    verdict.error_range = verdict.regions.front().error_range;
    if (is_beyond_error(verdict.rule, verdict.error_range)) return;
    verdict.lacks = verdict.lacks && effect_ != LossEffect::kNone;
  }

  void judge_regions(Verdict& verdict) const {
    const Rule& rule = verdict.rule;
    if (is_of_memory(rule.quantity)) return judge_memory_of_regions(verdict);
    verdict.problem = work_.problem(rule);
    if (of_visits(rule) && has_sampled_calls(definitions_)) {
      verdict.problem = "the run has samples, from which visits are not known";
    }
    if (!verdict.problem.empty()) return;
    for (const Row& row : matching(rule.region)) {
      const Region& region = data_.region(row.region);
      const double measured =
          rule.cause ? work_.of_region(row.region, *rule.cause) : figure(row.figures, rule);
      const ErrorRange range = error_range_of(rule, row.figures, measured);
      const bool has_rest =
          range.most == 0 &&
          (row.figures.at_least || (row.figures.truncated && rule.quantity != Quantity::kVisits));
      const bool unknown_rest = has_rest && !is_certain_verdict(rule, measured);
      if (std::isnan(measured) || unknown_rest) {
        verdict.problem = "the profile does not say it of " + data_.region_name(row.region);
        if (unknown_rest) verdict.problem += ", which was not timed to the end (--overhead)";
        verdict.regions.clear();
        return;
      }
      verdict.regions.push_back(
          {data_.region_name(row.region), region.file, region.first_line, measured,
           rule.holds(measured),
           is_certain_verdict(rule, measured, effect_) && is_beyond_error(rule, range), range});
    }
    if (!verdict.regions.empty()) return decide_regions(verdict);
    const bool unseen = ThrottledFunctions(definitions_.properties).was_paused();
    if (rule.forbids() && !unseen) settle(verdict, true, effect_ == LossEffect::kNone);
    if (!rule.forbids()) verdict.problem = unknown(rule.region);
    if (rule.forbids() && unseen)
      verdict.problem = "functions were not seen all the time (--overhead)";
  }

  // One region is enough to break a rule, or to keep one with `any`.
  void decide(Verdict& verdict) const {
    const Rule& rule = verdict.rule;
    std::ranges::stable_sort(verdict.regions, [&](const CheckedRegion& a, const CheckedRegion& b) {
      // One that does not hold may be exactly as far from the limit as one that does.
      if (a.holds != b.holds) return rule.any ? a.holds : b.holds;
      const double more = excess(rule, a.measured) - excess(rule, b.measured);
      return rule.any ? more < 0 : more > 0;
    });
    const CheckedRegion& first = verdict.regions.front();
    const bool enough = std::ranges::any_of(verdict.regions, [&](const CheckedRegion& one) {
      return one.holds == rule.any && one.certain;
    });
    const bool all_certain = std::ranges::all_of(verdict.regions, &CheckedRegion::certain);
    verdict.measured = first.measured;
    settle(verdict, first.holds, enough || (all_certain && none_is_lost(verdict)));
  }

  // Whether no region that is lost altogether could be another one that the rule is about.
  bool none_is_lost(const Verdict& verdict) const {
    const Rule& rule = verdict.rule;
    const bool named = verdict.regions.front().name == rule.region;
    const bool first_visit_keeps = rule.quantity == Quantity::kVisits && !rule.any && rule.holds(1);
    return effect_ == LossEffect::kNone || named || (first_visit_keeps && holds_beyond(rule, 1));
  }

  // The regions of exactly this name, or without one those that the pattern matches.
  std::vector<Row> matching(const std::string& name) const {
    std::vector<Row> result;
    for (const Row& row : rows_.rows) {
      if (data_.region_name(row.region) == name) result.push_back(row);
    }
    if (!result.empty() || !is_pattern(name)) return result;
    for (const Row& row : rows_.rows) {
      if (fnmatch(name.c_str(), data_.region_name(row.region).c_str(), 0) == 0)
        result.push_back(row);
    }
    return result;
  }

  std::string unknown(const std::string& name) const {
    const std::string what =
        is_pattern(name) ? "no region of the run matches" : "no region of the run has this name";
    const std::vector<std::string> near = nearest(name);
    if (near.empty()) return what + "; timeloom report --flat lists them";
    std::string meant;
    for (const std::string& one : near) meant += (meant.empty() ? "" : ", ") + one;
    return what + "; did you mean " + meant + "?";
  }

  // The regions that end in it; else the one that is most like it, as a whole or in its last part.
  std::vector<std::string> nearest(const std::string& name) const {
    std::vector<std::string> names;
    for (const Row& row : rows_.rows) names.push_back(data_.region_name(row.region));
    // Of names that are equally near the shortest, whatever takes how long.
    std::ranges::sort(names, {}, [](const std::string& one) { return std::pair(one.size(), one); });
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::vector<std::string> result;
    for (const std::string& one : names) {
      if (one.ends_with("." + name)) result.push_back(one);
      if (result.size() == kMostRuleSuggestions) break;
    }
    if (!result.empty()) return result;
    const std::vector<std::string_view> whole(names.begin(), names.end());
    if (const std::string_view one = nearest_name(name, whole); !one.empty()) {
      return {std::string(one)};
    }
    std::vector<std::string_view> parts;
    for (const std::string& one : names) parts.push_back(last_part_of_rule(one));
    const std::string_view part = nearest_name(last_part_of_rule(name), parts);
    const auto found = std::ranges::find(parts, part);
    if (!part.empty()) result.push_back(names[static_cast<std::size_t>(found - parts.begin())]);
    return result;
  }

  const profile::CallTree& tree_;
  const Definitions& definitions_;
  const LossEffect effect_;
  const WorkFigures work_;
  const MemoryFigures memory_;
  ReportData data_;
  Rows rows_;
};

}  // namespace

std::size_t Verdict::broken() const {
  return static_cast<std::size_t>(
      std::ranges::count(regions, false, [](const CheckedRegion& one) { return one.holds; }));
}

std::vector<Verdict> judge(const std::vector<Rule>& rules, const profile::CallTree& tree) {
  const Judge judge(tree);
  std::vector<Verdict> verdicts;
  for (const Rule& rule : rules) verdicts.push_back(judge.judge(rule));
  return verdicts;
}

}  // namespace timeloom::tools
