#include "tools/report/command/special_tables.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/teams/openmp_properties.hpp"
#include "exchange/names.hpp"
#include "tools/commands.hpp"
#include "tools/report/command/chosen_part.hpp"
#include "tools/report/engines/task_rows.hpp"
#include "tools/report/imports/report_imports.hpp"
#include "tools/report/locks/report_locks.hpp"
#include "tools/report/memory/memory_groups.hpp"
#include "tools/report/memory/report_memory.hpp"
#include "tools/report/mpi/report_mpi.hpp"
#include "tools/report/openmp/report_openmp.hpp"
#include "tools/report/report_by.hpp"
#include "tools/report/report_compensation.hpp"
#include "tools/report/report_function.hpp"
#include "tools/report/report_gpu.hpp"
#include "tools/report/report_io.hpp"
#include "tools/report/report_text.hpp"
#include "tools/report/slowest_visits.hpp"
#include "tools/run/open_run.hpp"
#include "tools/text/terminal.hpp"
#include "tools/text/wrong_usage.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

namespace {

// Replays all events of a trace into one sink.
void replay_into(RunSink& sink, RunSource& source) {
  const std::array<RunSink*, 1> sinks = {&sink};
  source.replay(sinks, std::max(1u, std::thread::hardware_concurrency()));
}

// `json` (or CSV) writes to an Output, `text` to one for a Terminal.
template <typename Json, typename Text>
int print_either(const ReportOptions& options, const Definitions& definitions, const Json& json,
                 const Text& text) {
  Output output;
  write_losses_of(definitions, options, output);
  if (options.json || options.csv) {
    json(output);
  } else {
    text(Terminal::detect(options.colour), output);
  }
  output.flush();
  return kDone;
}

int print_io_report(const ReportOptions& options, const IoReport& report,
                    const Definitions& definitions) {
  return print_either(
      options, definitions, [&](Output& output) { report.write_json(output); },
      [&](const Terminal& terminal, Output& output) { report.write(terminal, output); });
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

}  // namespace

void write_losses_of(const Definitions& definitions, const ReportOptions& options, Output& output) {
  const std::vector<std::string> losses = facts_of(definitions).losses;
  if (!options.json && !options.csv) {
    return write_losses(losses, Terminal::detect(options.colour), output);
  }
  for (const std::string& loss : losses) print_line(loss);
}

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
  SlowestVisits slowest(terminal.height - 2, regions,
                        selected_locations(options, source->definitions()));
  replay_into(slowest, *source);
  Output output;
  options.json ? slowest.write_json(output) : slowest.write(terminal, output);
  output.flush();
  return kDone;
}

int print_mpi(const ReportOptions& options, const std::filesystem::path& run) {
  profile::MessageSink messages;
  const bool traced = weave::has_trace(run);
  if (traced) replay_into(messages, *weave::open_trace(weave::trace_of(run)));
  profile::MessageSummary summary = messages.summary();
  if (!traced) summary.not_ideal = "the run has a profile and no trace";
  const profile::CallTree tree = call_tree_of(run);
  const MpiFacts facts = mpi_facts(tree, summary);
  if (facts.functions.empty() && facts.messages.messages == 0) {
    throw Error(
        run.string() +
        " has no calls of MPI; mpirun ... timeloom run records them, and mpirun ... python -m "
        "scorep --mpp=mpi; see docs/mpi.md [TL416]");
  }
  return print_either(
      options, tree.definitions, [&](Output& output) { write_mpi_json(facts, output); },
      [&](const Terminal& terminal, Output& output) { write_mpi(facts, terminal, output); });
}

int print_io(const ReportOptions& options, const std::filesystem::path& run) {
  if (!weave::has_trace(run)) {
    const profile::CallTree tree = call_tree_of(run);
    IoReport report(selected_locations(options, tree.definitions));
    report.add_profile(tree);
    return print_io_report(options, report, tree.definitions);
  }
  const std::unique_ptr<RunSource> source = weave::open_trace(weave::trace_of(run));
  IoReport report(selected_locations(options, source->definitions()));
  replay_into(report, *source);
  return print_io_report(options, report, source->definitions());
}

int print_gpu(const ReportOptions& options, const profile::CallTree& tree,
              const std::filesystem::path& run) {
  const GpuFacts facts = gpu_facts(tree);
  if (!facts.any()) {
    for (const std::string& loss : facts_of(tree.definitions).losses) print_line(loss);
    throw Error(run.string() + " has nothing of a GPU; timeloom run --gpu records it [TL417]");
  }
  return print_either(
      options, tree.definitions, [&](Output& output) { write_gpu_json(facts, tree, output); },
      [&](const Terminal& terminal, Output& output) { write_gpu(facts, tree, terminal, output); });
}

const char* reason_for_no_regions(const Definitions& definitions) {
  if (definitions.properties.contains(kUsableCores)) {
    return " was recorded with --thread omp and has no parallel regions of OpenMP: the program had "
           "none, or its runtime reported none, as the run's messages tell [TL484]";
  }
  return " has no parallel regions of OpenMP; timeloom run --thread omp records them [TL437]";
}

int print_omp(const ReportOptions& options, const profile::CallTree& tree,
              const std::filesystem::path& run) {
  const OpenMpFacts facts = openmp_facts(tree);
  if (facts.regions.empty()) throw Error(run.string() + reason_for_no_regions(tree.definitions));
  const Definitions& definitions = tree.definitions;
  return print_either(
      options, definitions, [&](Output& output) { write_openmp_json(facts, definitions, output); },
      [&](const Terminal& terminal, Output& output) {
        write_openmp(facts, definitions, terminal, output);
      });
}

int print_imports(const ReportOptions& options, const profile::CallTree& tree,
                  const std::filesystem::path& run) {
  const Definitions& definitions = tree.definitions;
  const std::set<LocationId> ids = selected_locations(options, definitions);
  const ImportFacts facts =
      import_facts(tree, [&](const Location& location) { return ids.contains(location.id); });
  if (facts.rows.empty() && !options.json) {
    throw Error(run.string() +
                " has no imported modules here: none was imported, or filters such as "
                "--only-my-code left them out [TL093]");
  }
  return print_either(
      options, definitions, [&](Output& output) { write_imports_json(facts, definitions, output); },
      [&](const Terminal& terminal, Output& output) {
        write_imports(facts, definitions, terminal, output);
      });
}

namespace {

int print_memory_by(const ReportOptions& options, const MemoryFacts& facts,
                    const profile::CallTree& tree) {
  const GroupKey key = *options.by;
  const std::vector<MemoryGroup> groups = memory_groups(facts, tree, key);
  return print_either(
      options, tree.definitions,
      [&](Output& output) { write_memory_by_json(groups, key, facts, output); },
      [&](const Terminal& terminal, Output& output) {
        write_memory_by(groups, key, facts, terminal, output);
      });
}

}  // namespace

int print_memory(const ReportOptions& options, const profile::CallTree& tree,
                 const std::filesystem::path& run) {
  MemoryFacts facts = memory_facts(tree);
  if (!facts.any()) {
    throw Error(run.string() + " has nothing of memory; timeloom run --memory records it [TL467]");
  }
  if (!options.function.empty()) {
    keep_paths_with(facts, tree, find_function(tree.definitions, options.function));
  }
  if (options.by) return print_memory_by(options, facts, tree);
  return print_either(
      options, tree.definitions, [&](Output& output) { write_memory_json(facts, tree, output); },
      [&](const Terminal& terminal, Output& output) {
        write_memory(facts, tree, terminal, output);
      });
}

int print_locks(const ReportOptions& options, const Definitions& definitions,
                const std::filesystem::path& run) {
  const LockFacts facts = locks_in(definitions.properties);
  if (!facts.recorded) {
    throw Error(run.string() + " has nothing of locks; timeloom run --locks records them [TL446]");
  }
  if (!options.output.empty() || options.force) {
    throw WrongUsage("--locks prints its CSV: leave out -o and --force [TL401]");
  }
  return print_either(
      options, definitions,
      [&](Output& output) {
        options.csv ? write_locks_csv(facts, definitions, output)
                    : write_locks_json(facts, definitions, output);
      },
      [&](const Terminal& terminal, Output& output) {
        write_locks(facts, definitions, terminal, output);
      });
}

int print_by(const ReportOptions& options, const profile::CallTree& tree,
             const std::set<LocationId>& ids, const std::filesystem::path& run) {
  if (*options.by >= GroupKey::kWorker) return print_tasks(options, tree, ids, run.string());
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

}  // namespace timeloom::tools
