// Rules about threads of one process that keep each other waiting.

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "core/regions/dotted_name.hpp"
#include "core/text/shell_word.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/report/findings/lock_line.hpp"
#include "tools/report/openmp/report_openmp.hpp"
#include "tools/report/work_times.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kManyThreads = 3;
constexpr double kMuchWaiting = 0.3;   // of the time of a thread
constexpr double kMuchLost = 0.3;      // of the wall time, on average in a thread
constexpr double kMeanwhile = 0.3;     // of the waiting of a thread: who may have held the lock
constexpr double kNoMatter = 0.05;     // seconds
constexpr double kOneAtATime = 0.75;   // work of threads together, of the time in which they run
constexpr double kStillOne = 1.25;     // the same at most: beyond it, they run at the same time
constexpr double kTurns = 1.5;         // waiting of a function that others' turns explain
constexpr double kMuchParallel = 0.2;  // of the wall time
constexpr double kMostlyTurns = 0.7;   // of all waiting of the threads

constexpr std::array<std::string_view, 9> kLocks = {
    "_thread.lock.acquire",    "_thread.lock.__enter__", "_thread.RLock.acquire",
    "_thread.RLock.__enter__", "SemLock.acquire",        "SemLock.__enter__",
    "pthread_mutex_lock",      "pthread_rwlock_wrlock",  "pthread_rwlock_rdlock"};

bool is_lock(const Region& region) {
  const std::string name = dotted_name(region.name);
  return std::ranges::any_of(kLocks, [&](std::string_view one) { return name.ends_with(one); });
}

struct Waiters {
  double waiting = 0;
  bool named = false;  // in a function that takes a lock
  std::vector<const WorkerTimes*> threads{};
};

// By the project's function, the threads that wait much in it or in the taking of a lock that it
// calls.
std::map<RegionId, Waiters> waiters_of(const FoundIn& run,
                                       const std::vector<const WorkerTimes*>& threads) {
  std::map<RegionId, Waiters> all;
  const auto& regions = run.tree.definitions.regions;
  for (const WorkerTimes* thread : threads) {
    std::map<RegionId, double> waiting;
    std::set<RegionId> named;
    for (const PathTime& path : thread->paths) {
      const profile::Node* node = &run.tree.nodes[path.node.value()];
      if (path.waiting <= 0 || !node->region.defined()) continue;
      const bool lock = is_lock(regions[node->region.value()]);
      if (lock && node->parent.defined()) node = &run.tree.nodes[node->parent.value()];
      if (!run.answer.owner().is_project(node->region)) continue;
      waiting[node->region] += path.waiting;
      if (lock) named.insert(node->region);
    }
    for (const auto& [region, time] : waiting) {
      if (time < kMuchWaiting * thread->span()) continue;
      Waiters& waiters = all[region];
      waiters.waiting += time;
      waiters.named |= named.contains(region);
      waiters.threads.push_back(thread);
    }
  }
  return all;
}

using Processes = std::map<std::uint32_t, std::vector<const WorkerTimes*>>;

Processes processes_of(const FoundIn& run) {
  Processes processes;
  for (const WorkerTimes& one : run.locations) {
    processes[run.tree.definitions.locations[one.location].group.value()].push_back(&one);
  }
  return processes;
}

std::string shown(const FoundIn& run, RegionId region) {
  return printable(run.answer.region_name(region));
}

// The function of the process that works longest, if it has worked for that long.
RegionId busiest(const FoundIn& run, const std::vector<const WorkerTimes*>& threads, double least) {
  std::map<RegionId, double> sums;
  for (const WorkerTimes* thread : threads) {
    for (const PathTime& path : thread->paths) {
      const RegionId region = run.tree.nodes[path.node.value()].region;
      if (run.answer.owner().is_project(region)) sums[region] += path.working;
    }
  }
  const auto most = std::ranges::max_element(sums, {}, [](const auto& one) { return one.second; });
  return most == sums.end() || most->second < least ? RegionId{} : most->first;
}

void add_convoy(const FoundIn& run, RegionId region, const Waiters& waiters,
                const std::vector<const WorkerTimes*>& threads, Findings& findings) {
  const double each = waiters.waiting / static_cast<double>(waiters.threads.size());
  if (waiters.threads.size() < kManyThreads || each < kMuchLost * run.wall || each < kNoMatter) {
    return;
  }
  const Region& known = run.tree.definitions.regions[region.value()];
  const std::string place =
      lock_place(known, run.tree.definitions.clock.realtime.value_or(UINT64_MAX));
  if (!waiters.named && place.empty()) return;
  const RegionId other = busiest(run, threads, kMeanwhile * each);
  const std::string meanwhile =
      other.defined() && other != region ? ", while " + shown(run, other) + " works" : "";
  findings.push_back(
      {"lock-convoy",
       formatted("{} threads wait {} for a lock in {}{}{}", waiters.threads.size(),
                 duration(waiters.waiting, run.terminal, " "), shown(run, region),
                 place.empty() ? "" : " (" + place + ")", meanwhile),
       "report --function " + shell_word(shown(run, region)),
       each,
       {{"threads", static_cast<double>(waiters.threads.size())}, {"waiting_s", waiters.waiting}}});
}

struct Turns {
  double working = 0;
  double waiting = 0;
  double explained = 0;  // of the waiting, by the work of others in the same functions
  double span = 0;
};

Turns turns_of(const FoundIn& run, const std::vector<Worker>& team) {
  Turns turns;
  std::map<RegionId, std::pair<double, double>> functions;  // working, waiting
  double first = team.front().first(), last = 0;
  for (const Worker& worker : team) {
    first = std::min(first, worker.first());
    last = std::max(last, worker.last());
    for (const PathTime& path : worker.threads.front()->paths) {
      auto& [working, waiting] = functions[run.tree.nodes[path.node.value()].region];
      working += path.working;
      waiting += path.waiting;
    }
  }
  turns.span = last - first;
  const double others = static_cast<double>(team.size() - 1);
  for (const auto& [region, times] : functions) {
    turns.working += times.first;
    // A thread that has nothing to do waits in these, whoever holds the GIL.
    if (region.defined() && waits_by_name(run.tree.definitions.regions[region.value()].name)) {
      continue;
    }
    turns.waiting += times.second;
    turns.explained += std::min(times.second, kTurns * others * times.first);
  }
  return turns;
}

}  // namespace

void find_convoys(const FoundIn& run, Findings& findings) {
  if (find_recorded_convoys(run, findings)) return;
  // Waiting whose cause was seen needs no guess.
  if (std::ranges::any_of(findings, [](const Finding& one) { return one.rule == "gil"; })) return;
  for (const auto& [group, threads] : processes_of(run)) {
    for (const auto& [region, waiters] : waiters_of(run, threads)) {
      add_convoy(run, region, waiters, threads, findings);
    }
  }
}

// Threads that work one at a time, in the same functions in which they wait.
void find_turns(const FoundIn& run, Findings& findings) {
  for (const std::vector<Worker>& team : run.teams) {
    if (team.front().process) continue;
    const Turns turns = turns_of(run, team);
    const auto threads = static_cast<double>(team.size());
    const double lost = turns.explained / threads;
    if (turns.working < kOneAtATime * turns.span || turns.working > kStillOne * turns.span)
      continue;
    if (turns.explained < kMostlyTurns * turns.waiting) continue;
    if (lost < kMuchLost * run.wall || lost < kNoMatter) continue;
    const bool told = std::ranges::any_of(findings, [](const Finding& one) {
      return one.rule == "lock-convoy" || one.rule == "gil";
    });
    if (told) continue;
    findings.push_back(
        {"turns",
         formatted("{} threads work one at a time, in {}: {} of work in {} (the GIL)", team.size(),
                   shown(run, team.front().threads.front()->role),
                   duration(turns.working, run.terminal, " "),
                   duration(turns.span, run.terminal, " ")),
         "report --by thread",
         lost,
         {{"threads", threads},
          {"working_s", turns.working},
          {"waiting_s", turns.waiting},
          {"span_s", turns.span}}});
  }
}

// Teams of OpenMP with more threads than cores. The number of cores is known in runs that record
// OpenMP alone.
void find_too_many_threads(const FoundIn& run, Findings& findings) {
  const OpenMpFacts facts = openmp_facts(run.tree);
  if (!facts.oversubscribed() || facts.parallel < kMuchParallel * run.wall) return;
  const auto threads = static_cast<double>(facts.at_once.threads);
  const auto cores = static_cast<double>(*facts.cores);
  findings.push_back(
      {"too-many-threads",
       formatted("{} threads of OpenMP share {} cores for {} in parallel regions",
                 facts.at_once.threads, *facts.cores, duration(facts.parallel, run.terminal, " ")),
       "report --omp",
       facts.parallel * (1 - cores / threads),
       {{"threads", threads}, {"cores", cores}, {"parallel_s", facts.parallel}}});
}

}  // namespace timeloom::tools
