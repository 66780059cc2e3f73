// `timeloom report [RUN]`: where the time went.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "core/error.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/open_run.hpp"
#include "tools/report_data.hpp"
#include "tools/report_text.hpp"
#include "tools/text.hpp"

namespace timeloom::tools {

namespace {

struct ReportOptions {
  std::optional<std::string> run;
  bool tree = false;
  bool flat = false;
  std::optional<SortKey> sort;
  std::optional<std::uint32_t> depth;
  std::optional<double> min_percent;
  std::vector<std::string> threads;
  std::vector<std::string> groups;
  std::string metric;
  bool json = false;
  bool csv = false;
  ColourMode colour = ColourMode::kAuto;
};

// The locations that the options choose.
std::set<LocationId> selected(const ReportOptions& options, const Definitions& definitions) {
  const auto is_any = [](const std::vector<std::string>& wanted, const std::string& name,
                         std::uint64_t id) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& one) {
      return one == name || one == std::to_string(id);
    });
  };
  std::set<LocationId> ids;
  for (const Location& location : definitions.locations) {
    const std::uint32_t group = location.group.value();
    const bool known = group < definitions.groups.size();
    const std::string& process = known ? definitions.groups[group].name : definitions.machine_name;
    if (!options.groups.empty() && !is_any(options.groups, process, group)) continue;
    if (!options.threads.empty() &&
        !is_any(options.threads, name_of(location), location.id.value()))
      continue;
    ids.insert(location.id);
  }
  if (ids.empty() && !options.groups.empty() && options.threads.empty()) {
    throw Error("no process '" + options.groups.front() +
                "' in this run; 'timeloom info' lists them");
  }
  if (ids.empty() && !options.threads.empty()) {
    throw Error("no thread '" + options.threads.front() +
                "' in this run or in that process; 'timeloom info' lists them");
  }
  return ids;
}

std::string scope_of(const std::set<LocationId>& ids, const Definitions& definitions) {
  const RunFacts facts = facts_of(definitions);
  const bool all = ids.size() == definitions.locations.size();
  if (facts.tasks > 0 && all) {
    return threads_and_tasks(facts.threads, facts.tasks, facts.task_lanes);
  }
  // A location by itself does not tell whether it is a thread or one of tasks.
  const std::string noun = facts.tasks > 0 ? "location" : "thread";
  if (ids.size() != 1 || all) return plural(ids.size(), noun);
  for (const Location& location : definitions.locations) {
    if (ids.contains(location.id)) return noun + " " + printable(name_of(location));
  }
  return {};
}

void write_text(const ReportOptions& options, const RowOptions& rows, const ReportData& data,
                const std::string& scope, const std::string& run, Output& output) {
  const Terminal terminal = Terminal::detect(options.colour);
  write_headline(facts_of(data.definitions()), run, terminal, output);
  if (data.total_seconds() == 0 && data.tree_rows({}).rows.empty()) {
    output.write("\nNo region was entered: there is nothing to show.\n");
    return;
  }
  if (options.tree) write_tree(data, rows, scope, terminal, output);
  if (options.flat) write_flat(data, rows, scope, terminal, output);
  if (data.metric() != nullptr) write_metric(data, terminal, output);
  write_legend(options.tree, terminal, output);
}

int run_report(const ReportOptions& options) {
  const std::filesystem::path run = open_run(options.run);
  const profile::CallTree tree = call_tree_of(run);
  const std::set<LocationId> ids = selected(options, tree.definitions);
  const auto wanted = [&](const Location& location) { return ids.contains(location.id); };
  ReportData data(tree, wanted);
  if (!options.metric.empty()) data.add_metric(options.metric, wanted);

  RowOptions rows;
  rows.sort = options.sort;
  // Data for programs is complete unless they ask for less.
  const bool for_people = !options.json && !options.csv;
  if (for_people) {
    rows.min_percent = 1;
    rows.depth = 100;
  }
  if (options.min_percent) rows.min_percent = *options.min_percent;
  if (options.depth) rows.depth = *options.depth;

  Output output;
  const DataOptions selection{rows, options.tree, options.flat};
  if (options.json)
    write_json(data, facts_of(tree.definitions), run.string(), selection, output);
  else if (options.csv)
    write_csv(data, selection, output);
  else
    write_text(options, rows, data, scope_of(ids, tree.definitions), run.string(), output);
  output.flush();
  return kDone;
}

}  // namespace

Command register_report(CLI::App& program) {
  const auto options = std::make_shared<ReportOptions>();
  CommandOptions known(program, "report", "Show where the time went, as call tree and flat table");
  known.run(options->run);
  known.flag("--tree", options->tree, "Only the call tree");
  known.flag("--flat", options->flat, "Only the flat table, one line a region");
  static const std::map<std::string, SortKey> kKeys = {{"inclusive", SortKey::kInclusive},
                                                       {"exclusive", SortKey::kExclusive},
                                                       {"visits", SortKey::kVisits},
                                                       {"mean", SortKey::kMean},
                                                       {"name", SortKey::kName}};
  known.choice("--sort", options->sort, kKeys,
               "Order: inclusive (tree), exclusive (flat), visits, mean, name");
  known.count("--depth", "N", options->depth, {1, UINT32_MAX, "a number of levels, 1 or more"},
              "Levels of the call tree (default: 100)");
  known.number("--min-percent", "P", options->min_percent, {0, 100, "a percentage from 0 to 100"},
               "Hide what takes less of the total (default: 1)");
  known.texts("--thread", "NAME", options->threads,
              "Only this thread: its name or id; can be repeated");
  known.texts("--group", "NAME", options->groups,
              "Only this process (location group): its name or number; can be repeated");
  known.text("--metric", "NAME", options->metric,
             "Also what this sampled metric came to, such as ru_utime");
  known.flag("--json", options->json, "Print JSON, complete unless limited");
  known.flag("--csv", options->csv, "Print CSV, complete unless limited");
  known.exclude("--json", "--csv");
  known.colour(options->colour);
  const auto run = [options] {
    if (!options->tree && !options->flat) options->tree = options->flat = true;
    return run_report(*options);
  };
  return {known.app(), run};
}

}  // namespace timeloom::tools
