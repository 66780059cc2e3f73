// Rules that compare workers with the same role.

#include <algorithm>
#include <map>

#include "tools/report/findings/finding.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr double kSlower = 1.5;            // times the work of the others
constexpr double kMuchOfTheBusiest = 0.2;  // of the work of the busiest thread
constexpr double kMoreCalls = 1.2;         // times the calls of the others: it got more to do
constexpr double kMuchAlone = 0.3;         // of the wall time
constexpr double kMostOfTheEnd = 0.5;      // for a process that works meanwhile
constexpr double kLeastSeconds = 0.05;     // a shorter time does not matter
constexpr double kMuchImporting = 0.25;    // of the work of a process
constexpr double kLeastImporting = 0.2;    // seconds in each process
constexpr std::size_t kManyProcesses = 3;

std::string argument(const std::string& name) {
  return name.find(' ') == std::string::npos ? name : "'" + name + "'";
}

std::string shown_worker(const Worker& worker) { return printable(worker.name); }

std::string report_of(const Worker& worker) {
  return formatted("report {} {}", worker.process ? "--group" : "--thread",
                   argument(printable(worker.name)));
}

std::map<RegionId, double> work_by_region(const profile::CallTree& tree, const Worker& worker) {
  std::map<RegionId, double> sums;
  for (const WorkerTimes* thread : worker.threads) {
    for (const PathTime& path : thread->paths) {
      sums[tree.nodes[path.node.value()].region] += path.working;
    }
  }
  return sums;
}

// The function in which `slow` works longest in excess of the mean of its team.
RegionId excess_function(const FoundIn& run, const std::vector<Worker>& team, const Worker& slow) {
  std::map<RegionId, double> excess = work_by_region(run.tree, slow);
  const double others = static_cast<double>(team.size() - 1);
  for (const Worker& worker : team) {
    if (&worker == &slow) continue;
    for (const auto& [region, time] : work_by_region(run.tree, worker)) {
      excess[region] -= time / others;
    }
  }
  return std::ranges::max_element(excess, {}, [](const auto& one) { return one.second; })->first;
}

double most_work(const FoundIn& run) {
  return std::ranges::max_element(run.locations, {}, &WorkerTimes::working)->working;
}

double calls_of_role(const FoundIn& run, const Worker& worker) {
  double calls = 0;
  for (const WorkerTimes* thread : worker.threads) {
    for (const profile::Cell& cell : run.tree.locations[thread->location].cells) {
      if (run.tree.nodes[cell.node.value()].region != thread->role) continue;
      calls += static_cast<double>(profile::signed_value(cell.statistics.visits));
    }
  }
  return calls;
}

// Workers that take the next task from a queue do not share the tasks evenly, which harms nothing.
bool has_more_calls(const FoundIn& run, const std::vector<Worker>& team, const Worker& slow) {
  double others = -calls_of_role(run, slow);
  for (const Worker& worker : team) others += calls_of_role(run, worker);
  others /= static_cast<double>(team.size() - 1);
  return calls_of_role(run, slow) > kMoreCalls * others;
}

void add_imbalance(const FoundIn& run, const std::vector<Worker>& team, Findings& findings) {
  const Worker& slow = *std::ranges::max_element(team, {}, &Worker::working);
  double others = -slow.working();
  for (const Worker& worker : team) others += worker.working();
  others /= static_cast<double>(team.size() - 1);
  const double excess = slow.working() - others;
  if (slow.working() < kSlower * others || excess < kMuchOfTheBusiest * most_work(run)) return;
  if (excess < kLeastSeconds || has_more_calls(run, team, slow)) return;
  const std::string times =
      others > 0 ? formatted("{:.1f} x the work of", slow.working() / others) : "unlike";
  findings.push_back(
      {"imbalance",
       formatted("{} has {} the other {}, in {}: {}, they {}", shown_worker(slow), times,
                 team.size() - 1,
                 printable(run.answer.region_name(excess_function(run, team, slow))),
                 duration(slow.working(), run.terminal, " "), duration(others, run.terminal, " ")),
       report_of(slow),
       excess,
       {{"working_s", slow.working()},
        {"others_working_s", others},
        {"others", static_cast<double>(team.size() - 1)}}});
}

// Whether another process works from `start` to `end`, for which `last` may wait: a child of it.
bool others_work(const FoundIn& run, const Worker& last, double start, double end) {
  const auto group = [&](const WorkerTimes& one) {
    return run.tree.definitions.locations[one.location].group;
  };
  return std::ranges::any_of(run.locations, [&](const WorkerTimes& one) {
    const double overlap = std::min(one.last, end) - std::max(one.first, start);
    return group(one) != group(*last.threads.front()) && overlap >= kMostOfTheEnd * (end - start) &&
           one.working >= kMostOfTheEnd * one.span();
  });
}

void add_serial_end(const FoundIn& run, const std::vector<Worker>& team, Findings& findings) {
  const Worker& last = *std::ranges::max_element(team, {}, &Worker::last);
  double before = 0;
  for (const Worker& worker : team) {
    if (&worker != &last) before = std::max(before, worker.last());
  }
  const double alone = last.last() - before;
  if (alone < kMuchAlone * run.wall || alone < kLeastSeconds) return;
  if (others_work(run, last, before, last.last())) return;
  const auto same = [&](const Finding& one) { return one.command == report_of(last); };
  if (std::ranges::any_of(findings, same)) return;  // it has more to do: an imbalance
  findings.push_back(
      {"serial-end",
       formatted("{} goes on alone for {} after the other {} have ended ({} of the run)",
                 shown_worker(last), duration(alone, run.terminal, " "), team.size() - 1,
                 percent(alone / run.wall)),
       report_of(last),
       alone,
       {{"alone_s", alone}, {"others", static_cast<double>(team.size() - 1)}}});
}

struct Importing {
  double working = 0;
  double importing = 0;
};

}  // namespace

void find_imbalance(const FoundIn& run, Findings& findings) {
  for (const std::vector<Worker>& team : run.teams) add_imbalance(run, team, findings);
}

void find_serial_end(const FoundIn& run, Findings& findings) {
  for (const std::vector<Worker>& team : run.teams) add_serial_end(run, team, findings);
}

// Each process that is started, not forked, loads its modules itself. The first one has to.
void find_repeated_imports(const FoundIn& run, Findings& findings) {
  const Definitions& definitions = run.tree.definitions;
  std::map<std::uint32_t, Importing> processes;
  for (const WorkerTimes& one : run.locations) {
    Importing& process = processes[definitions.locations[one.location].group.value()];
    process.working += one.working;
    for (const PathTime& path : one.paths) {
      if (run.paths[path.node.value()].is_importing()) process.importing += path.working;
    }
  }
  if (processes.empty()) return;
  processes.erase(processes.begin());
  double least = 0, sum = 0, all = 0;
  std::size_t many = 0;
  for (const auto& [group, one] : processes) {
    if (one.importing < std::max(kLeastImporting, kMuchImporting * one.working)) continue;
    least = many++ == 0 ? one.importing : std::min(least, one.importing);
    sum += one.importing;
    all += one.working;
  }
  if (many < kManyProcesses) return;
  findings.push_back(
      {"imports",
       formatted("{} processes import for {} or more each, {} of their work", many,
                 duration(least, run.terminal, " "), percent(sum / all)),
       "report --by process",
       least,
       {{"processes", static_cast<double>(many)}, {"importing_s", sum}, {"working_s", all}}});
}

}  // namespace timeloom::tools
