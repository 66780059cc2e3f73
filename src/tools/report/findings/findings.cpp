#include <algorithm>
#include <array>

#include "core/samples/sampled_time.hpp"
#include "tools/report/findings/finding.hpp"

namespace timeloom::tools {

namespace {

// At stake: 1 % of the wall time. Where the run mostly waited, such as for processors of a busy
// machine, less.
constexpr double kLeastOfWall = 0.01;
constexpr double kLeastOfWork = 0.05;
constexpr double kLeastSeconds = 0.1;

constexpr std::array kRules = {
    find_deadlocks,       find_imbalance,   find_serial_end,      find_repeated_imports,
    find_gil_waits,       find_convoys,     find_turns,           find_too_many_threads,
    find_held_loops,      find_small_tasks, find_growing_calls,   find_tiny_calls,
    find_suspended_tasks, find_collections, find_small_transfers, find_growing_memory,
    find_scattered_memory};

}  // namespace

Findings find(const profile::CallTree& tree, const Answer& answer,
              const profile::LocationFilter& filter, double wall, const Terminal& terminal) {
  const CallPaths paths = call_paths(tree, answer.owner());
  const std::vector<WorkerTimes> locations = worker_times(tree, paths, filter);
  const std::vector<std::vector<Worker>> teams = teams_of(tree, locations);
  const FoundIn run{tree, answer, paths, locations, teams, wall, terminal};
  Findings findings;
  if (has_sampled_calls(tree.definitions)) return findings;  // the rules look at calls and waiting
  for (const auto rule : kRules) rule(run, findings);
  std::ranges::stable_sort(
      findings, [](const Finding& a, const Finding& b) { return a.seconds > b.seconds; });
  const double least = std::min(kLeastOfWall * wall,
                                std::max(kLeastOfWork * answer.times().all_working, kLeastSeconds));
  std::erase_if(findings,
                [&](const Finding& one) { return one.seconds > 0 && one.seconds <= least; });
  return findings;
}

}  // namespace timeloom::tools
