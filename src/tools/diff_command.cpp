// `timeloom diff BEFORE AFTER`: what became slower, faster, new or gone.

#include <CLI/Option.hpp>
#include <future>
#include <memory>

#include "core/error.hpp"
#include "tools/choice.hpp"
#include "tools/commands.hpp"
#include "tools/diff_text.hpp"
#include "tools/open_run.hpp"

namespace timeloom::tools {

namespace {

struct DiffOptions {
  std::string before;
  std::string after;
  bool tree = false;
  bool flat = false;
  double min_percent = 1;
  bool min_percent_given = false;
  std::optional<double> fail_above;
  bool json = false;
  ColourMode colour = ColourMode::kAuto;
};

int run_diff(const DiffOptions& options) {
  const std::filesystem::path before = open_run(options.before);
  const std::filesystem::path after = open_run(options.after);
  // Both are read at the same time, where there is another thread to be had.
  std::future<profile::CallTree> tree_after = std::async(call_tree_of, after);
  const profile::CallTree tree_before = call_tree_of(before);
  const profile::Diff diff = profile::compare(tree_before, tree_after.get());
  if (!diff.shared) {
    throw Error(before.string() + " and " + after.string() +
                " have no region in common; name two runs of the same program");
  }
  DiffTables tables;
  if (options.tree || options.flat) tables = {options.tree, options.flat};
  // Data for programs is complete unless they ask for less.
  DiffRowOptions rows;
  if (!options.json || options.min_percent_given) rows.min_percent = options.min_percent;
  const DiffNames names{before.string(), after.string()};
  Output output;
  if (options.json)
    write_diff_json(diff, names, tables, rows, output);
  else
    write_diff(diff, names, tables, rows, Terminal::detect(options.colour), output);
  output.flush();
  if (!options.fail_above) return kDone;
  const std::vector<std::string> slow = too_slow(diff, *options.fail_above);
  for (const std::string& one : slow) say(one);
  return slow.empty() ? kDone : kFailed;
}

}  // namespace

Command register_diff(CLI::App& program) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App* app =
      program.add_subcommand("diff", "Compare two runs: what is slower, faster, new or gone");
  app->add_option("BEFORE", options->before, "A run, archive or profile")
      ->required()
      ->type_name("");
  app->add_option("AFTER", options->after, "The one to compare with it")->required()->type_name("");
  app->add_flag("--tree", options->tree, "Only the call paths");
  app->add_flag("--flat", options->flat, "Only the regions");
  CLI::Option* percent = app->add_option("--min-percent", options->min_percent,
                                         "Hide what changed by less of the longer run (default: 1)")
                             ->type_name("P")
                             ->check(number_between(0, 100, "a percentage from 0 to 100"));
  app->add_option("--fail-above", options->fail_above,
                  "Exit status 1 if the whole, or a region with 1% of it, takes P% longer")
      ->type_name("P")
      ->check(number_between(0, 1e9, "a percentage, 0 or more"));
  app->add_flag("--json", options->json, "Print JSON, complete unless limited");
  add_colour(*app, options->colour);
  return {app, [options, percent] {
            options->min_percent_given = percent->count() > 0;
            return run_diff(*options);
          }};
}

}  // namespace timeloom::tools
