#include "core/text/count_text.hpp"
#include "exchange/names.hpp"
#include "tools/report/openmp/report_openmp.hpp"
#include "tools/report/table/row_table.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;

std::string usable_cores(const OpenMpFacts& facts) {
  return "the program may use " + plural(*facts.cores, "core");
}

// "3 processes with 4 threads each, 12 threads in all".
std::string threads_at_once(const TeamsAtOnce& most) {
  const std::string team = plural(most.largest, "thread");
  if (most.teams == 1) return team;
  const bool alike = most.are_alike();
  std::string text = formatted("{} with {} each", plural(most.processes, "process"), team);
  if (!alike) {
    const std::string teams = plural(most.teams, "thread");
    text = most.processes == 1
               ? formatted("{} with teams of up to {}", teams, team)
               : formatted("{} with teams of up to {}", plural(most.processes, "process"), team);
  } else if (most.teams > most.processes) {
    const std::string teams =
        formatted("{} with a team of {}", plural(most.teams / most.processes, "thread"), team);
    text = most.processes == 1
               ? formatted("{} each", teams)
               : formatted("{} with {} each", plural(most.processes, "process"), teams);
  }
  return text + formatted(", {} in all,", plural(most.threads, "thread"));
}

std::string too_many(const OpenMpFacts& facts) {
  const TeamsAtOnce& most = facts.at_once;
  const std::uint64_t fitting = std::max<std::uint64_t>(*facts.cores / most.teams, 1);
  std::string text = threads_at_once(most);
  text += formatted(" on {}: they take turns. OMP_NUM_THREADS={} gives each thread a core",
                    plural(*facts.cores, "core"), fitting);
  if (most.processes > 1) {
    text += "; the threads of BLAS (OPENBLAS_NUM_THREADS, MKL_NUM_THREADS) come on top";
  }
  return text;
}

// "2 to 4", where teams differ.
std::string team_sizes(const ParallelRow& row, const Terminal&) {
  const std::string most = count(row.threads);
  return row.fewest < row.threads ? count(row.fewest) + " to " + most : most;
}

RowTable<ParallelRow> parallel_table(const Definitions& definitions) {
  const auto name = [&definitions](const ParallelRow& row) {
    return exchange::region_name(definitions, row.region);
  };
  return {"parallel region",
          {{"name", Unit::kText, name},
           {"calls", Unit::kCount, &ParallelRow::calls, {2, "calls"}},
           {"time_s", Unit::kSeconds, &ParallelRow::time, {1, "time"}},
           {"threads", Unit::kCount, &ParallelRow::threads, {3, "threads", team_sizes}},
           {"fewest_threads", Unit::kCount, &ParallelRow::fewest},
           {"working_s", Unit::kSeconds, &ParallelRow::working},
           {"waiting_s", Unit::kSeconds, &ParallelRow::waiting, {5, "waiting"}},
           {"imbalance", Unit::kFactor, &ParallelRow::imbalance, {4, "imbalance"}}}};
}

}  // namespace

std::string openmp_advice(const OpenMpFacts& facts) {
  std::string text = "OMP_NUM_THREADS ";
  text += facts.num_threads ? "is " + printable(*facts.num_threads) : std::string("is not set");
  if (!facts.cores) return facts.num_threads ? text : std::string();
  text += "; " + usable_cores(facts);
  if (facts.oversubscribed()) text += ".\n" + too_many(facts);
  return text;
}

void write_openmp(const OpenMpFacts& facts, const Definitions& definitions,
                  const Terminal& terminal, Output& output) {
  const auto spaced = [&](double seconds) { return duration(seconds, terminal, " "); };
  output.write(formatted("{} in parallel regions{}{} in teams of up to {}\n",
                         spaced(facts.parallel), terminal.dot(),
                         plural(facts.regions.size(), "region"), plural(facts.threads, "thread")));
  if (facts.threads > 1) {
    output.write(formatted(
        "{} ({}) outside of them: the other threads had nothing to do for {} of their time\n",
        spaced(facts.serial), percent(facts.serial_share()), spaced(facts.idle)));
  }
  if (const std::string advice = openmp_advice(facts); !advice.empty()) {
    output.write(advice + ".\n");
  }
  output.write("\n");
  parallel_table(definitions).write(facts.regions, terminal, output);
  output.write(
      "\nimbalance: the time that the thread with the most work works, over the mean of all; 1.00 "
      "is even.\nwaiting: in barriers and taskwait, and for critical and ordered blocks and locks, "
      "of all its threads.\n");
}

void write_openmp_json(const OpenMpFacts& facts, const Definitions& definitions, Output& output) {
  ordered_json all = {{"format", "timeloom-report-omp"}, {"version", 1}};
  all["parallel_s"] = facts.parallel;
  all["serial_s"] = facts.serial;
  all["serial_share"] = facts.serial_share();
  all["idle_s"] = facts.idle;
  all["threads"] = facts.threads;
  all["threads_at_once"] = facts.at_once.threads;
  all["teams"] = facts.at_once.teams;
  all["processes"] = facts.at_once.processes;
  all["cores"] = facts.cores ? ordered_json(*facts.cores) : ordered_json();
  all["omp_num_threads"] = facts.num_threads ? ordered_json(*facts.num_threads) : ordered_json();
  all["oversubscribed"] = facts.cores ? ordered_json(facts.oversubscribed()) : ordered_json();
  all["regions"] = parallel_table(definitions).json(facts.regions);
  all["losses"] = facts_of(definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
