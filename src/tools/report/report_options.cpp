#include "tools/report/report_options.hpp"

#include <map>
#include <string_view>
#include <utility>

namespace timeloom::tools {

void add_options(CommandOptions& known, ReportOptions& options) {
  known.run(options.run);
  known.flag("--full", options.full, "The whole call tree and the table of all regions");
  known.flag("--tree", options.tree, "Only the whole call tree");
  known.flag("--flat", options.flat, "Only the table of all regions, one line per region");
  static const std::map<std::string, SortKey> kKeys = {{"inclusive", SortKey::kInclusive},
                                                       {"exclusive", SortKey::kExclusive},
                                                       {"visits", SortKey::kVisits},
                                                       {"mean", SortKey::kMean},
                                                       {"name", SortKey::kName}};
  known.choice("--sort", options.sort, kKeys,
               "Order: inclusive (tree), exclusive (flat), visits, mean, name");
  known.count("--depth", "N", options.depth, {1, UINT32_MAX, "a number of levels, 1 or more"},
              "Levels of the call tree (default: 100)");
  known.number("--min-percent", "P", options.min_percent, {0, 100, "a percentage from 0 to 100"},
               "Hide rows with a smaller share of the total (default: 1)");
  known.texts("--thread", "NAME", options.threads,
              "Only this thread: its name or id; can be repeated");
  known.texts("--group", "NAME", options.groups,
              "Only this process (location group): its name or number; can be repeated");
  known.text("--from", "TIME", options.from,
             "Leave out events before this time since the start of the run, such as 2.5s");
  known.text("--to", "TIME", options.to, "Leave out events after this time");
  known.text("--metric", "NAME", options.metric,
             "Also the values of this sampled metric, such as ru_utime");
  static const std::map<std::string, GroupKey> kGroups = {
      {"module", GroupKey::kModule}, {"package", GroupKey::kPackage}, {"file", GroupKey::kFile},
      {"thread", GroupKey::kThread}, {"process", GroupKey::kProcess}, {"host", GroupKey::kHost},
      {"worker", GroupKey::kWorker}, {"task", GroupKey::kTask}};
  known.choice("--by", options.by, kGroups,
               "The time by module, package, file, thread, process, host; tasks of engines by "
               "worker or task");
  known.text("--function", "NAME", options.function,
             "One function, its callers and what it calls; the end of its name will do, and a "
             "pattern (shop.*) takes several together; a place (shop.py:12) names it, too");
  known.flag("--with-source", options.with_source,
             "Also the source lines of the function, of files below the working folder");
  known.texts("--source", "DIR", options.sources,
              "Take source lines of files below this folder, too; can be repeated");
  known.flag("--slowest", options.slowest,
             "The slowest single visits with their parameters (of --function), from the trace");
  known.flag("--threads", options.parallel,
             "How many threads worked at once, what the others waited for (run --causes), and who "
             "worked meanwhile");
  known.flag("--tasks", options.graph,
             "Tasks of Dask and the like: the critical path and what a faster task would gain, "
             "queues, idle workers and why");
  known.flag("--mpi", options.mpi,
             "Time in MPI, messages between processes, waiting for each other, load balance");
  known.flag("--io", options.io,
             "Input and output by file and call path, where it was recorded (run --io posix)");
  known.flag("--gpu", options.gpu,
             "What ran on GPUs, by kernel, copy and calling function (run --gpu)");
  known.flag(
      "--omp", options.omp,
      "Parallel regions of OpenMP: imbalance, waiting, what runs on one thread (run --thread "
      "omp)");
  known.flag("--imports", options.imports,
             "Imported modules: own and total time, processes, who imported them");
  known.flag("--memory", options.memory,
             "Peak of memory and who held it, who allocates most, what remained (run --memory)");
  known.flag(
      "--locks", options.locks,
      "Locks: the lines that held them, the threads that waited, deadlocks (run --locks); --csv "
      "prints all");
  known.flag("--native", options.native,
             "CPU time by library and function of compiled code, from samples (run --sample 1ms); "
             "--csv prints all");
  known.flag("--lines", options.lines,
             "CPU time by source line, from samples (run --sampling or --sample 1ms); --csv prints "
             "all");
  known.flag("--compensate", options.compensate,
             "Subtract the cost of measuring from the times, as far as it is known");
  known.exclude("--compensate", "--function");
  known.exclude("--compensate", "--slowest");
  known.exclude("--compensate", "--threads");
  known.exclude("--compensate", "--tasks");
  known.exclude("--compensate", "--lines");
  known.flag("--json", options.json, "Print JSON, complete unless limited");
  known.flag(
      "--csv", options.csv,
      "Print CSV, one row per thread and call path (--flat: region), complete unless limited");
  known.text("-o,--output", "NAME", options.output,
             "Write NAME.tree.csv and NAME.flat.csv (of --csv)");
  known.flag("--force", options.force, "Replace files that exist");
  known.exclude("--json", "--csv");
  known.colour(options.colour);
}

std::string without_effect(const ReportOptions& options) {
  const std::pair<bool, const char*> tables[] = {
      {options.by.has_value() && !options.memory, "--by"},
      {!options.function.empty() && !options.slowest && !options.memory, "--function"},
      {options.slowest, "--slowest"},
      {options.parallel, "--threads"},
      {options.graph, "--tasks"},
      {options.mpi, "--mpi"},
      {options.io, "--io"},
      {options.gpu, "--gpu"},
      {options.omp, "--omp"},
      {options.imports, "--imports"},
      {options.memory, "--memory"},
      {options.locks, "--locks"},
      {options.native, "--native"},
      {options.lines, "--lines"}};
  const std::pair<bool, const char*> others[] = {
      {options.full, "--full"},
      {options.tree, "--tree"},
      {options.flat, "--flat"},
      {options.sort.has_value(), "--sort"},
      {options.depth.has_value(), "--depth"},
      {options.min_percent.has_value(), "--min-percent"},
      {!options.metric.empty(), "--metric"},
      {options.csv && !options.lines && !options.locks && !options.native, "--csv"}};
  const char* table = nullptr;
  for (const auto& [given, name] : tables) {
    if (!given) continue;
    if (table != nullptr) return std::string(table) + " does not go with " + name;
    table = name;
  }
  const bool wants_source = options.with_source || !options.sources.empty();
  if (wants_source && (options.function.empty() || options.slowest || options.memory)) {
    return "--with-source and --source go with --function";
  }
  if (!options.sources.empty() && !options.with_source) return "--source goes with --with-source";
  if (table == nullptr) return {};
  if (options.memory && options.by && *options.by >= GroupKey::kWorker) {
    return "--memory goes with --by module, package, file, thread, process and host";
  }
  const bool of_the_run =
      options.mpi || options.gpu || options.omp || options.memory || options.locks;
  if (of_the_run && !(options.threads.empty() && options.groups.empty())) {
    return std::string(table) + " is of the whole run: it does not go with --thread and --group";
  }
  for (const auto& [given, name] : others) {
    if (given) return std::string(table) + " does not go with " + name;
  }
  return {};
}

}  // namespace timeloom::tools
