// `timeloom diff BEFORE AFTER`: what became slower, faster, new or gone.

#include <future>
#include <memory>

#include "core/error.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/diff/diff_text.hpp"
#include "tools/run/open_run.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/run/run_losses.hpp"

namespace timeloom::tools {

namespace {

struct DiffOptions {
  std::string before;
  std::string after;
  bool tree = false;
  bool flat = false;
  std::optional<double> min_percent;
  std::optional<double> fail_above;
  bool json = false;
  ColourMode colour = ColourMode::kAuto;
};

// Whether what is lost of the runs cannot change which of them is slower.
bool is_certain(bool fast, LossEffect before, LossEffect after) {
  const LossEffect safe = LossEffect::kMore;  // times can only be longer in truth
  return fast ? before <= safe && after == LossEffect::kNone
              : before == LossEffect::kNone && after <= safe;
}

int run_diff(const DiffOptions& options) {
  const std::filesystem::path before = open_run(options.before);
  const std::filesystem::path after = open_run(options.after);
  // Both are read at the same time, where there is another thread to be had.
  std::future<profile::CallTree> tree_after = std::async(call_tree_of, after);
  const profile::CallTree tree_before = call_tree_of(before);
  const profile::CallTree tree_later = tree_after.get();
  const profile::Diff diff = profile::compare(tree_before, tree_later);
  if (!diff.shared) {
    throw Error(before.string() + " and " + after.string() +
                " have no region in common; name two runs of the same program [TL412]");
  }
  DiffTables tables;
  if (options.tree || options.flat) tables = {options.tree, options.flat};
  // Data for programs is complete unless they ask for less.
  DiffRowOptions rows;
  if (!options.json) rows.min_percent = 1;
  if (options.min_percent) rows.min_percent = *options.min_percent;
  const DiffRuns runs{before.string(), after.string(),
                      differing_parts(tree_before.definitions, tree_later.definitions),
                      facts_of(tree_before.definitions).losses,
                      facts_of(tree_later.definitions).losses};
  Output output;
  if (options.json)
    write_diff_json(diff, runs, tables, rows, output);
  else
    write_diff(diff, runs, tables, rows, Terminal::detect(options.colour), output);
  output.flush();
  if (!options.fail_above) return kDone;
  const std::vector<std::string> slow = too_slow(diff, *options.fail_above);
  for (const std::string& one : slow) print_line(one);
  if (const std::string left_out = not_timed(diff); !left_out.empty()) {
    print_line("left out of --fail-above, not timed to the end (--overhead): " + left_out +
               " [TL413]");
  }
  const bool certain = is_certain(slow.empty(), effect_of(losses_of(tree_before.definitions)),
                                  effect_of(losses_of(tree_later.definitions)));
  if (!certain) {
    print_line(
        "undecided: the lost parts of the runs could change what --fail-above finds; record them "
        "whole [TL414]");
    return kCannotTell;
  }
  return slow.empty() ? kDone : kFailed;
}

}  // namespace

Command register_diff(CLI::App& program) {
  const auto options = std::make_shared<DiffOptions>();
  CommandOptions known(program, "diff", "Compare two runs: what is slower, faster, new or gone");
  known.positional("BEFORE", options->before, "A run, archive or profile");
  known.positional("AFTER", options->after, "The one to compare with it");
  known.flag("--tree", options->tree, "Only the call paths");
  known.flag("--flat", options->flat, "Only the regions");
  known.number("--min-percent", "P", options->min_percent, {0, 100, "a percentage from 0 to 100"},
               "Hide what changed by less of the longer run (default: 1)");
  known.number(
      "--fail-above", "P", options->fail_above, {0, 1e9, "a percentage, 0 or more"},
      "Exit status 1 if the whole, or a region with 1% of it, takes P% longer, 4 if a run lost "
      "too much to tell");
  known.flag("--json", options->json, "Print JSON, complete unless limited");
  known.colour(options->colour);
  return {known.app(), [options] { return run_diff(*options); }};
}

}  // namespace timeloom::tools
