// `timeloom report [RUN]`: where the time went.

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text/joined.hpp"
#include "core/text/shell_word.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/report/answer_text.hpp"
#include "tools/report/command/chosen_part.hpp"
#include "tools/report/command/special_tables.hpp"
#include "tools/report/engines/report_tasks.hpp"
#include "tools/report/lines/report_lines.hpp"
#include "tools/report/native/native_view.hpp"
#include "tools/report/native/report_native.hpp"
#include "tools/report/report_compensation.hpp"
#include "tools/report/report_csv.hpp"
#include "tools/report/report_data.hpp"
#include "tools/report/report_function.hpp"
#include "tools/report/report_options.hpp"
#include "tools/report/report_text.hpp"
#include "tools/report/source/report_source.hpp"
#include "tools/report/threads/report_threads.hpp"
#include "tools/run/open_run.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/wrong_usage.hpp"

namespace timeloom::tools {

namespace {

void write_report_text(const ReportOptions& options, const RowOptions& rows, const ReportData& data,
                       const CauseTimes& causes, const std::string& scope, const std::string& run,
                       Output& output) {
  const Terminal terminal = Terminal::detect(options.colour);
  write_headline(facts_of(data.definitions()), run, terminal, output);
  if (data.total_seconds() == 0 && data.tree_rows({}).rows.empty()) {
    output.write("\nNo time was recorded in a region: there is nothing to show.\n");
    return;
  }
  if (options.tree) write_tree(data, rows, scope, terminal, output);
  if (options.flat) write_flat(data, rows, scope, terminal, output);
  if (data.metric() != nullptr) write_metric(data, terminal, output);
  if (options.full && has_causes(data.definitions())) write_causes(causes, terminal, output);
  write_legend(options.tree, data.estimates().any(), data.cost(), terminal, output);
}

// Without a word about the tables the answer is printed, not all there is.
bool wants_answer(const ReportOptions& options) {
  return !options.full && !options.tree && !options.flat && !options.json && !options.csv &&
         !options.sort && !options.depth && !options.min_percent && options.metric.empty();
}

bool is_of_the_whole(const ReportOptions& options) {
  return !of_a_part(options) && options.threads.empty() && options.groups.empty();
}

// Of the whole run: a part of its time or threads is like the whole by chance only.
Findings findings_of(const ReportOptions& options, const profile::CallTree& tree,
                     const Answer& answer, const Terminal& terminal) {
  if (!is_of_the_whole(options)) return {};
  Findings found = find(tree, answer, {}, facts_of(tree.definitions).wall_seconds, terminal);
  // Without its name, the command would show the newest run.
  if (options.run) {
    for (Finding& one : found) one.command += " " + shell_word(*options.run);
  }
  return found;
}

// What the samples add to a table that is complete without them: nothing where their file is
// damaged, which a line tells.
template <typename Read>
auto read_samples(const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const Error& error) {
    print_line(error.what());
    return {};
  }
}

// The CPU time of the recorded threads that is the work of no function; 0: not known.
std::uint64_t outside_cpu(const CpuTimes& cpu, const Answer& answer) {
  if (!cpu.known() || !answer.times().measured || answer.cost()) return 0;
  const double rest = static_cast<double>(cpu.process - std::min(cpu.other, cpu.process)) -
                      answer.times().all_working * 1e9;
  return static_cast<std::uint64_t>(std::max(rest, 0.0));
}

int print_answer(const ReportOptions& options, const profile::CallTree& tree,
                 const std::set<LocationId>& ids, const std::string& run) {
  const Answer answer(
      tree, [&](const Location& location) { return ids.contains(location.id); },
      taken_away(options, tree));
  const Terminal terminal = Terminal::detect(options.colour);
  Output output;
  RunFacts facts = facts_of(tree.definitions);
  if (is_of_the_whole(options)) facts.outside_cpu = outside_cpu(facts.cpu, answer);
  write_answer(answer, findings_of(options, tree, answer, terminal), facts, read_samples([&] {
                 return native_times(chosen_samples(options, tree.definitions), tree.definitions,
                                     run);
               }),
               run, scope_of(ids, tree.definitions), terminal, output);
  output.flush();
  return kDone;
}

void limit(RowOptions& rows, const ReportOptions& options) {
  rows.sort = options.sort;
  if (options.min_percent) rows.min_percent = *options.min_percent;
  if (options.depth) rows.depth = *options.depth;
}

int print_csv(const ReportOptions& options, const profile::CallTree& tree,
              const std::set<LocationId>& ids) {
  CsvOptions csv{
      {},           options.tree, options.flat, options.compensate, options.metric, options.output,
      options.force};
  limit(csv.rows, options);
  if (const std::string wrong = wrong_usage(csv); !wrong.empty()) {
    print_line(wrong + "; see 'timeloom report --help' [TL401]");
    return kWrongUsage;
  }
  Output output;
  write_losses_of(tree.definitions, options, output);
  write_csv(tree, ids, csv);
  return kDone;
}

struct LinesOfFunction {
  std::vector<view::LineTime> lines;
  std::string reason;  // not empty: why there are none
};

// Of functions in one file; others have no lines in common.
LinesOfFunction lines_of_function(const ReportOptions& options, const profile::CallTree& tree,
                                  const std::vector<RegionId>& regions,
                                  const std::filesystem::path& run) {
  std::vector<const Region*> chosen;
  std::set<std::string> files;
  for (const RegionId one : regions) {
    chosen.push_back(&tree.definitions.regions[one.value()]);
    files.insert(chosen.back()->file);
  }
  std::vector<view::LineTime> lines = read_samples(
      [&] { return line_times(chosen_samples(options, tree.definitions), run).of(chosen); });
  if (files.size() == 1) return {std::move(lines), {}};
  if (lines.empty() && !options.with_source) return {};
  const auto name = [](const std::string& file) {
    return file.empty() ? "(no file)" : printable(file);
  };
  return {{},
          "no source lines: the functions are in " + std::to_string(files.size()) + " files (" +
              joined(files, ", ", name) + "); --function FILE:LINE chooses one"};
}

int print_function(const ReportOptions& options, const profile::CallTree& tree,
                   const std::set<LocationId>& ids, const std::filesystem::path& run) {
  const std::vector<RegionId> regions = find_function(tree.definitions, options.function);
  const FunctionFacts facts = function_facts(
      tree, [&](const Location& location) { return ids.contains(location.id); }, regions);
  const NativeShares shares =
      read_samples([&] {
        return native_times(chosen_samples(options, tree.definitions), tree.definitions, run);
      }).shares(regions);
  const auto [lines, reason] = lines_of_function(options, tree, regions, run);
  std::optional<view::SourceLines> source;
  if (options.with_source) {
    if (reason.empty()) {
      source = source_of(tree.definitions, regions.front(), options.sources);
      source->times = lines;
    } else {
      source.emplace().reason = reason;
    }
  }
  Output output;
  if (options.json) {
    write_function_json(facts, shares, lines, source, tree, output);
  } else {
    const Terminal terminal = Terminal::detect(options.colour);
    write_function(facts, tree, terminal, output);
    write_native_of_function(shares, terminal, output);
    write_lines_of_function(lines, terminal, output);
    if (source) {
      write_source(*source, terminal, output);
    } else if (!reason.empty()) {
      output.write(reason + "\n");
    }
  }
  output.flush();
  return kDone;
}

int print_samples(const ReportOptions& options, const std::filesystem::path& run) {
  const Definitions definitions = call_tree_of(run).definitions;
  const std::optional<SamplePart> part = chosen_samples(options, definitions);
  return options.native ? print_native(options, part, definitions, run)
                        : print_lines(options, part, definitions, run);
}

int run_report(ReportOptions options) {
  if (const std::string wrong = without_effect(options); !wrong.empty()) {
    print_line(wrong + "; see 'timeloom report --help' [TL401]");
    return kWrongUsage;
  }
  if (of_a_part(options) &&
      (options.slowest || options.parallel || options.graph || options.io || options.gpu ||
       options.memory || options.locks || !options.metric.empty())) {
    print_line(
        "--from and --to do not go with --slowest, --threads, --tasks, --io, --gpu, --memory, "
        "--locks and --metric; see 'timeloom report --help' [TL401]");
    return kWrongUsage;
  }
  if (!options.csv && (!options.output.empty() || options.force)) {
    print_line("-o and --force go with --csv; see 'timeloom report --help' [TL401]");
    return kWrongUsage;
  }
  const std::filesystem::path run = open_run(options.run);
  if (options.slowest) return print_slowest(options, run);
  if (options.parallel) {
    const auto chosen = [&](const Definitions& all) { return selected_locations(options, all); };
    return print_threads(run, chosen, options.json, options.colour), kDone;
  }
  if (options.graph) {
    const auto chosen = [&](const Definitions& all) { return selected_locations(options, all); };
    return print_graph(run, chosen, options.json, options.colour), kDone;
  }
  if (options.mpi) return print_mpi(options, run);
  if (options.io) return print_io(options, run);
  if (options.gpu) return print_gpu(options, call_tree_of(run), run);
  if (options.memory) return print_memory(options, call_tree_of(run), run);
  if (options.locks) return print_locks(options, call_tree_of(run).definitions, run);
  if (options.native || options.lines) return print_samples(options, run);
  const profile::CallTree tree = chosen_tree(options, run);
  if (options.omp) return print_omp(options, tree, run);
  if (options.imports) return print_imports(options, tree, run);
  const std::set<LocationId> ids = selected_locations(options, tree.definitions);
  if (options.by) return print_by(options, tree, ids, run);
  if (!options.function.empty()) return print_function(options, tree, ids, run);
  if (options.csv) return print_csv(options, tree, ids);
  if (wants_answer(options)) return print_answer(options, tree, ids, run.string());
  if (!options.tree && !options.flat) options.tree = options.flat = true;
  const auto wanted = [&](const Location& location) { return ids.contains(location.id); };
  ReportData data(tree, wanted);
  if (options.compensate) data.compensate(call_cost_of(tree.definitions));
  if (!options.metric.empty()) data.add_metric(options.metric, wanted);

  RowOptions rows;
  // Data for programs is complete unless they ask for less.
  if (!options.json) {
    rows.min_percent = 1;
    rows.depth = 100;
  }
  limit(rows, options);

  Output output;
  const DataOptions selection{rows, options.tree, options.flat};
  const CauseTimes causes = work_times(tree, wanted).all_causes;
  if (options.json)
    write_json(data, causes, findings_of(options, tree, Answer(tree, wanted), Terminal()),
               facts_of(tree.definitions), run.string(), selection, output);
  else
    write_report_text(options, rows, data, causes, scope_of(ids, tree.definitions), run.string(),
                      output);
  output.flush();
  return kDone;
}

}  // namespace

Command register_report(CLI::App& program) {
  const auto options = std::make_shared<ReportOptions>();
  CommandOptions known(program, "report", "Show where the time went");
  add_options(known, *options);
  return {known.app(), [options] { return run_report(*options); }};
}

}  // namespace timeloom::tools
