// `timeloom report [RUN]`: where the time went.

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "core/error.hpp"
#include "core/samples/sampled_time.hpp"
#include "exchange/names.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/report/answer_text.hpp"
#include "tools/report/engines/task_rows.hpp"
#include "tools/report/imports/report_imports.hpp"
#include "tools/report/locks/report_locks.hpp"
#include "tools/report/memory/report_memory.hpp"
#include "tools/report/mpi/report_mpi.hpp"
#include "tools/report/native/native_view.hpp"
#include "tools/report/native/report_native.hpp"
#include "tools/report/openmp/report_openmp.hpp"
#include "tools/report/report_by.hpp"
#include "tools/report/report_compensation.hpp"
#include "tools/report/report_csv.hpp"
#include "tools/report/report_data.hpp"
#include "tools/report/report_function.hpp"
#include "tools/report/report_gpu.hpp"
#include "tools/report/report_io.hpp"
#include "tools/report/report_options.hpp"
#include "tools/report/report_text.hpp"
#include "tools/report/slowest_visits.hpp"
#include "tools/report/source/report_source.hpp"
#include "tools/report/threads/report_threads.hpp"
#include "tools/run/open_run.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/wrong_usage.hpp"
#include "tools/view/viewed_run.hpp"
#include "view/answers/range_tree.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

namespace {

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
    // The time of queues of a GPU is none of the program's threads.
    const bool queue = location.type == LocationType::kAcceleratorStream;
    if (queue && options.threads.empty()) continue;
    const std::uint32_t group = location.group.value();
    const bool known = group < definitions.groups.size();
    const std::string& process = known ? definitions.groups[group].name : definitions.machine_name;
    if (!options.groups.empty() && !is_any(options.groups, process, group)) continue;
    if (!options.threads.empty() &&
        !is_any(options.threads, location_name(location), location.id.value()))
      continue;
    ids.insert(location.id);
  }
  if (ids.empty() && !options.groups.empty() && options.threads.empty()) {
    throw Error("no process '" + options.groups.front() +
                "' in this run; 'timeloom info' lists them [TL415]");
  }
  if (ids.empty() && !options.threads.empty()) {
    throw Error("no thread '" + options.threads.front() +
                "' in this run or in that process; 'timeloom info' lists them [TL415]");
  }
  return ids;
}

std::string scope_of(const std::set<LocationId>& ids, const Definitions& definitions) {
  const RunFacts facts = facts_of(definitions);
  const auto queues =
      std::ranges::count(definitions.locations, LocationType::kAcceleratorStream, &Location::type);
  const bool all = ids.size() + static_cast<std::size_t>(queues) == definitions.locations.size();
  if (facts.tasks > 0 && all) {
    return threads_and_tasks(facts.threads, facts.tasks, facts.task_lanes);
  }
  // A location by itself does not tell whether it is a thread or one of tasks.
  const std::string noun = facts.tasks > 0 ? "location" : "thread";
  std::vector<const Location*> chosen;
  for (const Location& location : definitions.locations) {
    const bool of_metrics = location.type == LocationType::kMetric;
    if (ids.contains(location.id) && !of_metrics) chosen.push_back(&location);
  }
  if (chosen.size() != 1 || all) return plural(chosen.size(), noun);
  return noun + " " + printable(location_name(*chosen.front()));
}

void write_report_text(const ReportOptions& options, const RowOptions& rows, const ReportData& data,
                       const CauseTimes& causes, const std::string& scope, const std::string& run,
                       Output& output) {
  const Terminal terminal = Terminal::detect(options.colour);
  write_headline(facts_of(data.definitions()), run, terminal, output);
  if (data.total_seconds() == 0 && data.tree_rows({}).rows.empty()) {
    output.write("\nNo region was entered: there is nothing to show.\n");
    return;
  }
  if (options.tree) write_tree(data, rows, scope, terminal, output);
  if (options.flat) write_flat(data, rows, scope, terminal, output);
  if (data.metric() != nullptr) write_metric(data, terminal, output);
  if (options.full && has_causes(data.definitions())) write_causes(causes, terminal, output);
  write_legend(options.tree, data.cost(), terminal, output);
}

// The cost of measuring, where it is to be taken from the times.
std::optional<CallCost> taken_away(const ReportOptions& options, const profile::CallTree& tree) {
  if (!options.compensate) return std::nullopt;
  return call_cost_of(tree.definitions);
}

// Without a word about the tables the answer is printed, not all there is.
bool wants_answer(const ReportOptions& options) {
  return !options.full && !options.tree && !options.flat && !options.json && !options.csv &&
         !options.sort && !options.depth && !options.min_percent && options.metric.empty();
}

bool of_a_part(const ReportOptions& options) {
  return !options.from.empty() || !options.to.empty();
}

// Of the whole run: a part of its time or threads is like the whole by chance only.
Findings findings_of(const ReportOptions& options, const profile::CallTree& tree,
                     const Answer& answer, const Terminal& terminal) {
  if (of_a_part(options) || !options.threads.empty() || !options.groups.empty()) return {};
  return find(tree, answer, {}, facts_of(tree.definitions).wall_seconds, terminal);
}

int print_answer(const ReportOptions& options, const profile::CallTree& tree,
                 const std::set<LocationId>& ids, const std::string& run) {
  const Answer answer(
      tree, [&](const Location& location) { return ids.contains(location.id); },
      taken_away(options, tree));
  const Terminal terminal = Terminal::detect(options.colour);
  Output output;
  write_answer(answer, findings_of(options, tree, answer, terminal), facts_of(tree.definitions),
               native_times(options, tree, run), run, scope_of(ids, tree.definitions), terminal,
               output);
  output.flush();
  return kDone;
}

// Above the tables; where the output is data, on standard error.
void write_losses_of(const Definitions& definitions, const ReportOptions& options, Output& output) {
  const std::vector<std::string> losses = facts_of(definitions).losses;
  if (!options.json && !options.csv) {
    return write_losses(losses, Terminal::detect(options.colour), output);
  }
  for (const std::string& loss : losses) print_line(loss);
}

// A profile has the times of the slowest visits only, not what and when they were.
int print_slowest(const ReportOptions& options, const std::filesystem::path& run) {
  if (!weave::has_trace(run)) {
    throw Error(run.string() +
                " has a profile and no trace, so its single visits are not known; timeloom run "
                "without --profile makes a trace [TL411]");
  }
  const std::unique_ptr<RunSource> source = weave::open_trace(weave::trace_of(run));
  if (has_sampled_calls(source->definitions())) {
    throw Error(run.string() +
                " has samples, from which single visits are not known; timeloom run without "
                "--sampling records them [TL441]");
  }
  std::vector<RegionId> regions;
  if (!options.function.empty()) regions = find_function(source->definitions(), options.function);
  const Terminal terminal = Terminal::detect(options.colour);
  SlowestVisits slowest(terminal.height - 2, regions, selected(options, source->definitions()));
  const std::array<RunSink*, 1> sinks = {&slowest};
  source->replay(sinks, std::max(1u, std::thread::hardware_concurrency()));
  Output output;
  options.json ? slowest.write_json(output) : slowest.write(terminal, output);
  output.flush();
  return kDone;
}

// Messages are in the trace only.
int print_mpi(const ReportOptions& options, const std::filesystem::path& run) {
  profile::MessageSink messages;
  const std::array<RunSink*, 1> sinks = {&messages};
  std::unique_ptr<RunSource> source;
  if (weave::has_trace(run)) {
    source = weave::open_trace(weave::trace_of(run));
    source->replay(sinks, std::max(1u, std::thread::hardware_concurrency()));
  }
  profile::MessageSummary summary = messages.summary();
  if (source == nullptr) summary.not_ideal = "the run has a profile and no trace";
  const profile::CallTree tree = call_tree_of(run);
  const MpiFacts facts = mpi_facts(tree, summary);
  if (facts.functions.empty() && facts.messages.messages == 0) {
    throw Error(
        run.string() +
        " has no calls of MPI; mpirun ... timeloom run records them, and mpirun ... python -m "
        "scorep --mpp=mpi; see docs/mpi.md [TL416]");
  }
  Output output;
  write_losses_of(tree.definitions, options, output);
  if (options.json) {
    write_mpi_json(facts, output);
  } else {
    write_mpi(facts, Terminal::detect(options.colour), output);
  }
  output.flush();
  return kDone;
}

void write_io(const ReportOptions& options, const IoReport& report,
              const Definitions& definitions) {
  Output output;
  write_losses_of(definitions, options, output);
  options.json ? report.write_json(output) : report.write(Terminal::detect(options.colour), output);
  output.flush();
}

// The files that were used are in a trace only.
int print_io(const ReportOptions& options, const std::filesystem::path& run) {
  if (!weave::has_trace(run)) {
    const profile::CallTree tree = call_tree_of(run);
    IoReport report(selected(options, tree.definitions));
    report.add_profile(tree);
    write_io(options, report, tree.definitions);
    return kDone;
  }
  const std::unique_ptr<RunSource> source = weave::open_trace(weave::trace_of(run));
  IoReport report(selected(options, source->definitions()));
  const std::array<RunSink*, 1> sinks = {&report};
  source->replay(sinks, std::max(1u, std::thread::hardware_concurrency()));
  write_io(options, report, source->definitions());
  return kDone;
}

int print_gpu(const ReportOptions& options, const profile::CallTree& tree,
              const std::filesystem::path& run) {
  const GpuFacts facts = gpu_facts(tree);
  if (!facts.any()) {
    throw Error(run.string() + " has nothing of a GPU; timeloom run --gpu records it [TL417]");
  }
  Output output;
  write_losses_of(tree.definitions, options, output);
  if (options.json) {
    write_gpu_json(facts, tree, output);
  } else {
    write_gpu(facts, tree.definitions, Terminal::detect(options.colour), output);
  }
  output.flush();
  return kDone;
}

int print_omp(const ReportOptions& options, const profile::CallTree& tree,
              const std::filesystem::path& run) {
  const OpenMpFacts facts = openmp_facts(tree);
  if (facts.regions.empty()) {
    throw Error(
        run.string() +
        " has no parallel regions of OpenMP; timeloom run --thread omp records them [TL437]");
  }
  Output output;
  write_losses_of(tree.definitions, options, output);
  if (options.json) {
    write_openmp_json(facts, tree.definitions, output);
  } else {
    write_openmp(facts, tree.definitions, Terminal::detect(options.colour), output);
  }
  output.flush();
  return kDone;
}

int print_imports(const ReportOptions& options, const profile::CallTree& tree,
                  const std::filesystem::path& run) {
  const std::set<LocationId> ids = selected(options, tree.definitions);
  const ImportFacts facts =
      import_facts(tree, [&](const Location& location) { return ids.contains(location.id); });
  if (facts.rows.empty() && !options.json) {
    throw Error(run.string() +
                " has no imported modules here: none was imported, or filters such as "
                "--only-my-code left them out [TL093]");
  }
  Output output;
  write_losses_of(tree.definitions, options, output);
  if (options.json) {
    write_imports_json(facts, tree.definitions, output);
  } else {
    write_imports(facts, tree.definitions, Terminal::detect(options.colour), output);
  }
  output.flush();
  return kDone;
}

int print_memory(const ReportOptions& options, const profile::CallTree& tree,
                 const std::filesystem::path& run) {
  const MemoryFacts facts = memory_facts(tree);
  if (!facts.any()) {
    throw Error(run.string() + " has nothing of memory; timeloom run --memory records it [TL467]");
  }
  Output output;
  write_losses_of(tree.definitions, options, output);
  if (options.json) {
    write_memory_json(facts, tree, output);
  } else {
    write_memory(facts, tree, Terminal::detect(options.colour), output);
  }
  output.flush();
  return kDone;
}

int print_locks(const ReportOptions& options, const Definitions& definitions,
                const std::filesystem::path& run) {
  const LockFacts facts = locks_in(definitions.properties);
  if (!facts.recorded) {
    throw Error(run.string() + " has nothing of locks; timeloom run --locks records them [TL446]");
  }
  Output output;
  write_losses_of(definitions, options, output);
  if (options.json) {
    write_locks_json(facts, definitions, output);
  } else {
    write_locks(facts, definitions, Terminal::detect(options.colour), output);
  }
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

int print_tasks(const ReportOptions& options, const profile::CallTree& tree,
                const std::set<LocationId>& ids, const std::string& run) {
  const std::vector<TaskRow> rows = task_rows(tree, *options.by, ids, taken_away(options, tree));
  if (rows.empty()) {
    throw Error(run + " has no tasks of an engine; docs/engines.md lists the engines [TL470]");
  }
  const std::vector<std::string> losses = facts_of(tree.definitions).losses;
  Output output;
  if (options.json) {
    write_tasks_json(rows, *options.by, losses, output);
  } else {
    write_tasks(rows, *options.by, losses, Terminal::detect(options.colour), output);
  }
  output.flush();
  return kDone;
}

int print_by(const ReportOptions& options, const profile::CallTree& tree,
             const std::set<LocationId>& ids, const std::string& run) {
  if (*options.by >= GroupKey::kWorker) return print_tasks(options, tree, ids, run);
  const std::vector<GroupRow> rows = group_rows(tree, *options.by, ids, taken_away(options, tree));
  const std::vector<std::string> losses = facts_of(tree.definitions).losses;
  Output output;
  if (options.json) {
    write_by_json(rows, *options.by, visits_word(tree.definitions), losses, output);
  } else {
    write_by(rows, *options.by, visits_word(tree.definitions), losses,
             Terminal::detect(options.colour), output);
  }
  output.flush();
  return kDone;
}

int print_function(const ReportOptions& options, const profile::CallTree& tree,
                   const std::set<LocationId>& ids, const std::filesystem::path& run) {
  const std::vector<RegionId> regions = find_function(tree.definitions, options.function);
  const FunctionFacts facts = function_facts(
      tree, [&](const Location& location) { return ids.contains(location.id); }, regions);
  const NativeShares shares = native_times(options, tree, run).shares(regions);
  std::optional<view::SourceLines> source;
  if (options.with_source) source = source_of(tree.definitions, regions.front(), options.sources);
  Output output;
  if (options.json) {
    write_function_json(facts, shares, source, tree, output);
  } else {
    const Terminal terminal = Terminal::detect(options.colour);
    write_function(facts, tree, terminal, output);
    write_native_of_function(shares, terminal, output);
    if (source) write_source(*source, terminal, output);
  }
  output.flush();
  return kDone;
}

// Ticks since the begin of the run.
std::uint64_t time_of(const std::string& text, const char* option, const Definitions& definitions,
                      std::uint64_t otherwise) {
  const WindowPoint point = window_point_of(text, option);
  if (point.kind == WindowPoint::Kind::kNone) return otherwise;
  if (point.kind == WindowPoint::Kind::kRegion) {
    throw WrongUsage(std::string(option) +
                     " takes a time since the start of the run, such as 2.5s [TL418]");
  }
  return ticks(exchange::RunClock(definitions.clock).at(point.ns)) - definitions.clock.begin;
}

// The call tree of all of the run, or of the time that the options choose.
profile::CallTree chosen_tree(const ReportOptions& options, const std::filesystem::path& run) {
  if (!of_a_part(options)) return call_tree_of(run);
  ViewedRun viewed(run);
  const Definitions& definitions = viewed.definitions();
  const std::uint64_t from = time_of(options.from, "--from", definitions, 0);
  const std::uint64_t to = time_of(options.to, "--to", definitions, view::kLastTime);
  if (to < from) throw WrongUsage("--to is before --from [TL408]");
  const std::uint64_t length = definitions.clock.length;
  if (length > 0 && from > length) {
    const Terminal terminal = Terminal::detect(options.colour);
    throw Error("--from " + options.from + " is beyond the end of the run, which is " +
                duration(seconds(length, definitions), terminal, " ") + " long [TL419]");
  }
  return view::range_tree(*viewed.index(), definitions, from, to);
}

int run_report(ReportOptions options) {
  if (const std::string wrong = without_effect(options); !wrong.empty()) {
    print_line(wrong + "; see 'timeloom report --help' [TL401]");
    return kWrongUsage;
  }
  if (of_a_part(options) && (options.slowest || options.parallel || options.io || options.gpu ||
                             options.memory || options.locks || !options.metric.empty())) {
    print_line(
        "--from and --to do not go with --slowest, --threads, --io, --gpu, --memory, --locks and "
        "--metric; see "
        "'timeloom report --help' [TL401]");
    return kWrongUsage;
  }
  if (!options.csv && (!options.output.empty() || options.force)) {
    print_line("-o and --force go with --csv; see 'timeloom report --help' [TL401]");
    return kWrongUsage;
  }
  const std::filesystem::path run = open_run(options.run);
  if (options.slowest) return print_slowest(options, run);
  if (options.parallel) {
    const auto chosen = [&](const Definitions& all) { return selected(options, all); };
    return print_threads(run, chosen, options.json, options.colour), kDone;
  }
  if (options.mpi) return print_mpi(options, run);
  if (options.io) return print_io(options, run);
  if (options.gpu) return print_gpu(options, call_tree_of(run), run);
  if (options.memory) return print_memory(options, call_tree_of(run), run);
  if (options.locks) return print_locks(options, call_tree_of(run).definitions, run);
  if (options.native) return print_native(options, run);
  const profile::CallTree tree = chosen_tree(options, run);
  if (options.omp) return print_omp(options, tree, run);
  if (options.imports) return print_imports(options, tree, run);
  const std::set<LocationId> ids = selected(options, tree.definitions);
  if (options.by) return print_by(options, tree, ids, run.string());
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
