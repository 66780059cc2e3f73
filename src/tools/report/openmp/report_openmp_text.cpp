#include "core/text/count_text.hpp"
#include "exchange/names.hpp"
#include "tools/report/openmp/report_openmp.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;

std::string usable_cores(const OpenMpFacts& facts) {
  return "the program may use " + plural(*facts.cores, "core");
}

std::string too_many(const OpenMpFacts& facts) {
  const std::uint64_t fitting = std::max<std::uint64_t>(*facts.cores / facts.processes, 1);
  std::string text =
      facts.processes == 1
          ? plural(facts.threads, "thread")
          : formatted("{} with {} each, {} in all,", plural(facts.processes, "process"),
                      plural(facts.threads, "thread"), plural(facts.all_threads(), "thread"));
  text += formatted(" on {}: they take turns. OMP_NUM_THREADS={} gives each thread a core",
                    plural(*facts.cores, "core"), fitting);
  if (facts.processes > 1) {
    text += "; the threads of BLAS (OPENBLAS_NUM_THREADS, MKL_NUM_THREADS) come on top";
  }
  return text;
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
  const auto time = [&](double seconds) { return duration(seconds, terminal); };
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
  Table table(terminal, 2, "parallel region");
  for (const char* heading : {"time", "calls", "threads", "imbalance", "waiting"}) {
    table.add_column(heading);
  }
  for (const ParallelRow& row : facts.regions) {
    TableRow shown;
    shown.cells = {time(row.time), count(row.calls), count(row.threads),
                   formatted("{:.2f}", row.imbalance()), time(row.waiting)};
    shown.name = printable(exchange::region_name(definitions, row.region));
    table.add_row(std::move(shown));
  }
  output.write("\n");
  table.write(output);
  output.write(
      "\nimbalance: the time that the thread with the most work works, over the mean of all; 1.00 "
      "is even.\nwaiting: in barriers of the region, of all its threads.\n");
}

void write_openmp_json(const OpenMpFacts& facts, const Definitions& definitions, Output& output) {
  ordered_json all = {{"format", "timeloom-report-omp"}, {"version", 1}};
  all["parallel_s"] = facts.parallel;
  all["serial_s"] = facts.serial;
  all["serial_share"] = facts.serial_share();
  all["idle_s"] = facts.idle;
  all["threads"] = facts.threads;
  all["processes"] = facts.processes;
  all["cores"] = facts.cores ? ordered_json(*facts.cores) : ordered_json();
  all["omp_num_threads"] = facts.num_threads ? ordered_json(*facts.num_threads) : ordered_json();
  all["oversubscribed"] = facts.cores ? ordered_json(facts.oversubscribed()) : ordered_json();
  all["regions"] = ordered_json::array();
  for (const ParallelRow& row : facts.regions) {
    all["regions"].push_back({{"name", exchange::region_name(definitions, row.region)},
                              {"calls", row.calls},
                              {"time_s", row.time},
                              {"threads", row.threads},
                              {"working_s", row.working},
                              {"waiting_s", row.waiting},
                              {"imbalance", row.imbalance()}});
  }
  all["losses"] = facts_of(definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
