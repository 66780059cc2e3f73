// `timeloom diff BEFORE AFTER`, `timeloom diff BEFORE... -- AFTER...`: what became slower, faster,
// new or gone.

#include <algorithm>
#include <future>
#include <map>
#include <memory>

#include "core/error.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/diff/diff_text.hpp"
#include "tools/report/work_times.hpp"
#include "tools/run/open_run.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/run/run_losses.hpp"
#include "tools/text/wrong_usage.hpp"

namespace timeloom::tools {

namespace {

enum class DiffBy : std::uint8_t { kAuto, kWork, kTime };

struct DiffOptions {
  std::vector<std::string> runs;  // before, and the last one after if `after` is empty
  std::vector<std::string> after;
  DiffBy by = DiffBy::kAuto;
  CiFormat format = CiFormat::kText;
  bool tree = false;
  bool flat = false;
  std::optional<double> min_percent;
  std::optional<double> fail_above;
  bool json = false;
  ColourMode colour = ColourMode::kAuto;
};

// Whether the lost parts of the runs cannot change which of them is slower.
bool is_certain(bool fast, LossEffect before, LossEffect after) {
  const LossEffect safe = LossEffect::kMore;  // times can only be longer in truth
  return fast ? before <= safe && after == LossEffect::kNone
              : before == LossEffect::kNone && after <= safe;
}

// The runs of one side.
struct SideOfRuns {
  std::vector<std::string> names;
  std::vector<profile::CallTree> trees;

  std::vector<profile::DiffRun> with_work() const {
    std::vector<profile::DiffRun> runs;
    for (const profile::CallTree& tree : trees) {
      profile::DiffRun& run = runs.emplace_back(profile::DiffRun{&tree});
      WorkTimes times = work_times(tree, {});
      if (!times.measured) continue;
      run.working = std::move(times.working);
      run.waiting = std::move(times.waiting);
    }
    return runs;
  }
  LossEffect effect() const {
    LossEffect most = LossEffect::kNone;
    for (const auto& tree : trees) most = std::max(most, effect_of(losses_of(tree.definitions)));
    return most;
  }
  // Sentences; of several runs, the run's name before each.
  std::vector<std::string> losses() const {
    std::vector<std::string> sentences;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      for (const std::string& loss : facts_of(trees[i].definitions).losses) {
        sentences.push_back((trees.size() > 1 ? names[i] + ": " : "") + loss);
      }
    }
    return sentences;
  }
};

SideOfRuns read_side(const std::vector<std::string>& words) {
  SideOfRuns side;
  for (const std::string& word : words) {
    const std::filesystem::path run = open_run(word);
    side.names.push_back(run.string());
    side.trees.push_back(call_tree_of(run));
  }
  return side;
}

std::pair<SideOfRuns, SideOfRuns> read_sides(const DiffOptions& options) {
  std::vector<std::string> before = options.runs, after = options.after;
  if (before.empty() || (after.empty() && before.size() != 2)) {
    throw WrongUsage(
        "name two runs, or several of each side with -- between them; see 'timeloom diff "
        "--help' [TL401]");
  }
  if (after.empty()) {
    after.push_back(before.back());
    before.pop_back();
  }
  // Both are read at the same time, where there is another thread to be had.
  std::future<SideOfRuns> later = std::async(read_side, after);
  SideOfRuns first = read_side(before);
  return {std::move(first), later.get()};
}

bool compares_work(DiffBy by, const profile::Diff& diff) {
  if (by == DiffBy::kWork && !diff.measured) {
    throw Error(
        "--by work: one of the runs has not measured for how long it waited; use --by time "
        "[TL440]");
  }
  return by != DiffBy::kTime && diff.measured;
}

void write(const profile::Diff& diff, const DiffOptions& options, const DiffRuns& runs,
           const DiffRowOptions& rows, const std::vector<Compared>& compared, DiffCertainty certain,
           std::optional<MemoryDiff> memory) {
  DiffTables tables{.memory = std::move(memory)};
  if (options.tree || options.flat) {
    tables.tree = options.tree;
    tables.flat = options.flat;
  }
  Output output;
  if (options.json || options.format == CiFormat::kJson)
    write_diff_json(diff, runs, tables, rows, output);
  else if (options.format != CiFormat::kText)
    write_ci_report(ci_report_of(compared, runs, certain), options.format, output);
  else
    write_diff(diff, runs, tables, rows, Terminal::detect(options.colour), output);
  output.flush();
}

int run_diff(const DiffOptions& options) {
  const bool for_service = options.format > CiFormat::kJson;
  if (for_service && !options.fail_above) {
    throw WrongUsage("--format junit, github and markdown go with --fail-above [TL401]");
  }
  const auto [before, after] = read_sides(options);
  const profile::Diff diff = profile::compare(before.with_work(), after.with_work());
  if (!diff.shared) {
    throw Error(before.names.front() + " and " + after.names.front() +
                " have no region in common; name two runs of the same program [TL412]");
  }
  // Data for programs is complete unless they ask for less.
  DiffRowOptions rows;
  rows.by_work = compares_work(options.by, diff);
  rows.complete = options.json || options.format == CiFormat::kJson;
  if (!rows.complete) rows.min_percent = 1;
  if (options.min_percent) rows.min_percent = *options.min_percent;
  const DiffRuns runs{
      before.names, after.names,
      differing_parts(before.trees.front().definitions, after.trees.front().definitions),
      before.losses(), after.losses()};
  const std::vector<Compared> compared =
      options.fail_above ? compare_with_limit(diff, *options.fail_above, rows.by_work)
                         : std::vector<Compared>();
  const bool slow = std::ranges::any_of(compared, &Compared::too_slow);
  const DiffCertainty certain{.slower = is_certain(false, before.effect(), after.effect()),
                              .not_slower = is_certain(true, before.effect(), after.effect())};
  write(diff, options, runs, rows, compared, certain, compare_memory(before.trees, after.trees));
  if (!options.fail_above) return kDone;
  for (const Compared& one : compared) {
    if (one.too_slow) print_line(one.text());
  }
  if (const std::string left_out = not_timed(diff); !left_out.empty()) {
    print_line("left out of --fail-above, not timed to the end (--overhead): " + left_out +
               " [TL413]");
  }
  if (!certain.of(slow)) {
    print_line(
        "undecided: the lost parts of the runs could change what --fail-above finds; record them "
        "whole [TL414]");
    return kCannotTell;
  }
  return slow ? kFailed : kDone;
}

}  // namespace

Command register_diff(CLI::App& program) {
  const auto options = std::make_shared<DiffOptions>();
  CommandOptions known(program, "diff", "Compare two runs: what is slower, faster, new or gone");
  known.positional(
      "RUNS", options->runs,
      "BEFORE AFTER: two runs, archives or profiles; or several of each side, BEFORE... "
      "-- AFTER..., whose medians are compared");
  known.texts("--after", "RUN", options->after,
              "A run of the later side, as behind --; can be repeated");
  static const std::map<std::string, DiffBy> by = {{"work", DiffBy::kWork},
                                                   {"time", DiffBy::kTime}};
  known.choice("--by", options->by, by,
               "Compare work, with waiting apart, or time (default: work, where it was measured)");
  known.flag("--tree", options->tree, "Only the call paths");
  known.flag("--flat", options->flat, "Only the regions");
  known.number("--min-percent", "P", options->min_percent, {0, 100, "a percentage from 0 to 100"},
               "Hide rows that changed by less of the longer run (default: 1)");
  known.number(
      "--fail-above", "P", options->fail_above, {0, 1e9, "a percentage, 0 or more"},
      "Exit status 1 if the whole, or a region with 1% of it, takes P% longer, 4 if a run lost "
      "too much to tell");
  known.flag("--json", options->json, "Print JSON, complete unless limited");
  known.choice("--format", options->format, ci_formats(),
               "How to print: text, json, and with --fail-above JUnit XML, annotations of GitHub "
               "Actions, Markdown");
  known.colour(options->colour);
  return {known.app(), [options] { return run_diff(*options); }};
}

}  // namespace timeloom::tools
