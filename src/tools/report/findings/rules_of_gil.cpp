// Rules about waiting whose cause was seen (--causes).

#include <algorithm>
#include <map>
#include <string>

#include "core/waiting_metric.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kSeveral = 2;      // threads
constexpr double kMuchOfThread = 0.3;    // of the time of a thread, and on average of the wall time
constexpr double kLeastOfThread = 0.05;  // seconds

// The threads of one process that wait long for the GIL.
struct GilWaits {
  std::size_t threads = 0;
  double waiting = 0;  // seconds, of all of them
  std::map<RegionId, double> functions;
};

void add_thread(const FoundIn& run, const WorkerTimes& thread, MetricId gil, GilWaits& process) {
  std::map<RegionId, double> functions;
  double all = 0;
  for (const profile::SampleCell& cell : run.tree.locations[thread.location].samples) {
    if (cell.metric != gil || !cell.node.defined()) continue;
    const double time = static_cast<double>(cell.value) * 1e-9;
    all += time;
    functions[run.tree.nodes[cell.node.value()].region] += time;
  }
  if (all < kMuchOfThread * thread.span() || all < kLeastOfThread) return;
  ++process.threads;
  process.waiting += all;
  for (const auto& [region, time] : functions) process.functions[region] += time;
}

MetricId gil_metric(const Definitions& definitions) {
  const std::string name = cause_metric(WaitingCause::kGil).name;
  for (std::uint32_t i = 0; i < definitions.metrics.size(); ++i) {
    if (definitions.metrics[i].name == name) return MetricId{i};
  }
  return {};
}

}  // namespace

void find_gil_waits(const FoundIn& run, Findings& findings) {
  const MetricId gil = gil_metric(run.tree.definitions);
  if (!gil.defined()) return;
  std::map<LocationGroupId, GilWaits> processes;
  for (const WorkerTimes& thread : run.locations) {
    const LocationGroupId group = run.tree.definitions.locations[thread.location].group;
    add_thread(run, thread, gil, processes[group]);
  }
  for (const auto& [group, process] : processes) {
    const double each =
        process.waiting / static_cast<double>(std::max<std::size_t>(process.threads, 1));
    if (process.threads < kSeveral || each < kMuchOfThread * run.wall) continue;
    const RegionId most = std::ranges::max_element(process.functions, {}, [](const auto& one) {
                            return one.second;
                          })->first;
    findings.push_back(
        {"gil",
         formatted("{} threads wait {} for the GIL, in {}: they run Python one at a time",
                   process.threads, duration(process.waiting, run.terminal, " "),
                   printable(run.answer.region_name(most))),
         "report --threads",
         each,
         {{"threads", static_cast<double>(process.threads)}, {"waiting_s", process.waiting}}});
  }
}

}  // namespace timeloom::tools
