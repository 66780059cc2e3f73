// Rules about the tasks of asyncio and trio, each of which has a location of its own.

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/text/shell_word.hpp"
#include "core/waiting/cause_names.hpp"
#include "core/waiting_metric.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/report/suspensions.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kManyTasks = 10;
constexpr double kMostlySuspended = 0.7;  // of the time of such a task
constexpr double kMuchSuspended = 0.3;    // of the wall time, on average in a task
constexpr double kLeastSuspended = 0.05;  // seconds

// The thing that a task awaits; empty: not known.
std::string_view awaited_thing(WaitingCause cause) {
  if (cause == WaitingCause::kIo) return "a socket or pipe";
  if (cause == WaitingCause::kLock) return "a lock";
  if (cause == WaitingCause::kThread) return "a thread or process";
  return cause == WaitingCause::kTime ? "a time" : std::string_view();
}

// How often a location ran the function: a lane runs one task after the other.
std::size_t visits_of(const FoundIn& run, std::size_t location, RegionId region) {
  std::int64_t visits = 0;
  for (const profile::Cell& cell : run.tree.locations[location].cells) {
    const profile::Node& node = run.tree.nodes[cell.node.value()];
    if (node.region != region) continue;
    visits += profile::signed_value(cell.statistics.visits);
  }
  return static_cast<std::size_t>(std::max<std::int64_t>(visits, 0));
}

struct EqualTasks {
  std::size_t tasks = 0;
  double suspended = 0;  // seconds, of all together
};
// By process, by the function that they run, and by the function in which they wait most and its
// cause.
using TaskKey = std::tuple<std::uint32_t, RegionId, RegionId, WaitingCause>;

void add_task(const FoundIn& run, const WorkerTimes& task, std::map<TaskKey, EqualTasks>& all) {
  std::map<std::tuple<RegionId, RegionId, WaitingCause>, double> sums;
  for (const PathTime& path : task.paths) {
    if (path.waiting <= 0 || !is_suspended_at(run.tree, path.node)) continue;
    const RegionId role = region_at(run.tree, run.paths[path.node.value()].outermost);
    const auto [function, cause] = suspension_at(run.tree, path.node);
    sums[{role, function, cause}] += path.waiting;
  }
  if (sums.empty()) return;
  const auto most = std::ranges::max_element(sums, {}, [](const auto& one) { return one.second; });
  const auto& [role, where, cause] = most->first;
  if (!role.defined() || !where.defined()) return;
  if (most->second < kMostlySuspended * task.span()) return;
  const auto& location = run.tree.definitions.locations[task.location];
  EqualTasks& equal = all[{location.group.value(), role, where, cause}];
  equal.tasks += visits_of(run, task.location, role);
  equal.suspended += most->second;
}

}  // namespace

void find_suspended_tasks(const FoundIn& run, Findings& findings) {
  std::map<TaskKey, EqualTasks> all;
  for (const WorkerTimes& task : run.locations) add_task(run, task, all);
  for (const auto& [key, equal] : all) {
    const double each = equal.suspended / static_cast<double>(equal.tasks);
    if (equal.tasks < kManyTasks || each < kMuchSuspended * run.wall || each < kLeastSuspended) {
      continue;
    }
    const auto& [group, role, where, cause] = key;
    const std::string name = printable(run.answer.region_name(role));
    const std::string& function = run.tree.definitions.regions[where.value()].name;
    if (is_idle_suspension(function)) continue;
    const std::string_view thing = awaited_thing(cause);
    std::string text = formatted("{} x {} waited", count(equal.tasks), name);
    if (!thing.empty()) text += formatted(" for {}", thing);
    text += formatted(" {} each", duration(each, run.terminal, " "));
    if (where != role) text += formatted(", in {}", printable(run.answer.region_name(where)));
    findings.push_back(
        {"suspended-tasks",
         std::move(text),
         "report --function " + shell_word(name),
         each,
         {{"tasks", static_cast<double>(equal.tasks)}, {"suspended_s", equal.suspended}}});
  }
}

}  // namespace timeloom::tools
