#include "tools/report/work_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/regions/dotted_name.hpp"
#include "core/waiting_metric.hpp"
#include "profile/compensation.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {

namespace {

constexpr std::array<std::string_view, 23> kWaitingFunctions = {
    "threading.Condition.wait",
    "threading.Event.wait",
    "threading.Barrier.wait",
    "threading.Thread.join",
    "threading.Thread._wait_for_tstate_lock",
    "threading._shutdown",
    "_thread.lock.acquire",
    "_thread.RLock.acquire",
    "_thread._ThreadHandle.join",
    "time.sleep",
    "multiprocessing.connection.wait",
    "multiprocessing.connection.Connection._recv",
    "multiprocessing.popen_fork.Popen.poll",
    "multiprocessing.pool.worker",
    "multiprocessing.pool.Pool._handle_tasks",
    "multiprocessing.pool.Pool._handle_results",
    "concurrent.futures.thread._worker",
    "multiprocessing.synchronize.SemLock.acquire",
    "subprocess.Popen._try_wait",
    "socket.socket.accept",
    "socket.socket.recv",
    "socket.socket.recv_into",
    "MPI_Barrier"};

// Beginnings and ends of names.
constexpr std::array<std::string_view, 4> kBeginnings = {"select.", "MPI_Wait", "MPI_Recv",
                                                         "MPI_Probe"};
constexpr std::array<std::string_view, 3> kSelectors = {
    "Selector.select", "_PollLikeSelector.select", "selectors._fallback_select"};

// The metric of a run that has it; undefined otherwise.
MetricId waiting_metric(const Definitions& definitions) {
  for (std::uint32_t i = 0; i < definitions.metrics.size(); ++i) {
    if (definitions.metrics[i].is_waiting()) return MetricId{i};
  }
  return {};
}

void add_measured(const profile::CallTree& tree, const profile::LocationFilter& filter,
                  MetricId metric, WorkTimes& times) {
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    if (filter && !filter(tree.definitions.locations[i])) continue;
    for (const profile::SampleCell& cell : tree.locations[i].samples) {
      if (cell.metric != metric || !cell.node.defined()) continue;
      times.waiting[cell.node.value()] += static_cast<double>(cell.value) * 1e-9;
    }
  }
}

// The clocks by which waiting is told from work differ by more than such a rest.
void drop_noise(WorkTimes& times) {
  constexpr double kLeastWork = 1e-6;
  if (!times.measured || std::abs(times.all_working) >= kLeastWork) return;
  times.all_working = 0;
  std::ranges::fill(times.working, 0);
  std::ranges::fill(times.measured_working, 0);
}

}  // namespace

bool waits_by_name(const std::string& name) {
  const std::string dotted = dotted_name(name);
  const auto is = [&](std::string_view one) { return dotted == one; };
  const auto begins = [&](std::string_view one) { return dotted.starts_with(one); };
  const auto ends = [&](std::string_view one) { return dotted.ends_with(one); };
  return std::ranges::any_of(kWaitingFunctions, is) || std::ranges::any_of(kBeginnings, begins) ||
         std::ranges::any_of(kSelectors, ends);
}

bool is_waiting(const Region& region, bool measured, const OpenMpWaits& openmp) {
  return is_suspension(region) || openmp.waits(region) || (!measured && waits_by_name(region.name));
}

WorkTimes work_times(const profile::CallTree& tree, const profile::LocationFilter& filter,
                     const std::optional<CallCost>& cost) {
  WorkTimes times;
  const std::vector<profile::Totals> totals = profile::sum_locations(tree, filter);
  const std::vector<profile::Totals> less =
      cost ? profile::compensate(tree, totals, *cost) : std::vector<profile::Totals>();
  times.waiting.resize(totals.size());
  times.unmeasured.resize(totals.size());
  const MetricId metric = waiting_metric(tree.definitions);
  times.measured = metric.defined();
  if (times.measured) add_measured(tree, filter, metric, times);
  const OpenMpWaits openmp(tree.definitions.regions);
  std::vector<bool> waits;
  for (const Region& region : tree.definitions.regions) {
    waits.push_back(is_waiting(region, times.measured, openmp));
  }
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const RegionId region = tree.nodes[i].region;
    const Region* const known =
        region.defined() ? &tree.definitions.regions[region.value()] : nullptr;
    const bool unmeasured = known != nullptr && is_unmeasured(*known);
    if (unmeasured) {
      const double time = seconds(totals[i].exclusive, tree.definitions);
      const profile::NodeId caller = tree.nodes[i].parent;
      times.unmeasured[caller.defined() ? caller.value() : i] += time;
      times.all_unmeasured += time;
    }
    const bool counts = known == nullptr || !(unmeasured || is_task_run(*known));
    const double own = counts ? seconds(totals[i].exclusive, tree.definitions) : 0;
    double& waiting = times.waiting[i];
    waiting =
        region.defined() && waits[region.value()] ? own : std::min(waiting, std::max(own, 0.0));
    times.measured_working.push_back(own - waiting);
    times.working.push_back(
        cost && counts ? std::max(seconds(less[i].exclusive, tree.definitions) - waiting, 0.0)
                       : own - waiting);
    times.visits.push_back(unmeasured ? 0 : profile::signed_value(totals[i].visits));
    times.all_working += times.working.back();
    times.all_waiting += waiting;
  }
  times.has_causes = has_causes(tree.definitions);
  times.causes = causes_of_nodes(tree, filter, times.waiting);
  for (const CauseTimes& causes : times.causes) times.all_causes += causes;
  drop_noise(times);
  return times;
}

}  // namespace timeloom::tools
