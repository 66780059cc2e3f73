#include "tools/report/findings/worker_times.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/waiting_metric.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kLeastTeam = 3;

using profile::NodeId;

// Calls `add` for each cell with its exclusive time.
template <typename Add>
void each_own_time(const profile::CallTree& tree, const profile::LocationProfile& profile,
                   std::vector<std::int64_t>& inside, Add add) {
  for (const profile::Cell& cell : profile.cells) {
    const NodeId parent = tree.nodes[cell.node.value()].parent;
    if (parent.defined()) {
      inside[parent.value()] += profile::signed_value(cell.statistics.inclusive);
    }
  }
  for (const profile::Cell& cell : profile.cells) {
    add(cell.node, profile::signed_value(cell.statistics.inclusive) - inside[cell.node.value()]);
  }
  for (const profile::Cell& cell : profile.cells) {
    const NodeId parent = tree.nodes[cell.node.value()].parent;
    if (parent.defined()) inside[parent.value()] = 0;
  }
}

bool is_neither(const profile::CallTree& tree, NodeId node) {
  const RegionId region = tree.nodes[node.value()].region;
  if (!region.defined()) return false;
  const Region& known = tree.definitions.regions[region.value()];
  return is_unmeasured(known) || is_task_run(known);
}

bool is_suspended(const profile::CallTree& tree, const PathTime& path) {
  const RegionId region = tree.nodes[path.node.value()].region;
  return region.defined() && is_suspension(tree.definitions.regions[region.value()]);
}

void add_paths(const profile::CallTree& tree, const profile::LocationProfile& profile,
               std::vector<std::int64_t>& inside, WorkerTimes& times) {
  each_own_time(tree, profile, inside, [&](NodeId node, std::int64_t ticks) {
    if (is_neither(tree, node)) return;
    const double own = seconds(static_cast<std::uint64_t>(ticks), tree.definitions);
    times.paths.push_back({node, std::max(own, 0.0), 0});
  });
  for (const profile::SampleCell& cell : profile.samples) {
    if (!cell.node.defined() || !tree.definitions.metrics[cell.metric.value()].is_waiting()) {
      continue;
    }
    const auto path = std::ranges::lower_bound(times.paths, cell.node, {}, &PathTime::node);
    if (path == times.paths.end() || path->node != cell.node) continue;
    path->waiting = std::min(static_cast<double>(cell.value) * 1e-9, path->working);
    path->working -= path->waiting;
  }
  for (PathTime& path : times.paths) {
    if (is_suspended(tree, path)) path.waiting += std::exchange(path.working, 0);
    times.working += path.working;
    times.waiting += path.waiting;
  }
}

RegionId largest_of(const std::map<RegionId, double>& sums, double all) {
  const auto largest =
      std::ranges::max_element(sums, {}, [](const auto& one) { return one.second; });
  const bool much = largest != sums.end() && largest->second >= WorkerTimes::kMostOfIt * all;
  return much ? largest->first : RegionId{};
}

// Undefined: no function has most of the project's part.
RegionId role_of(const profile::CallTree& tree, const CallPaths& paths, const WorkerTimes& times) {
  std::map<RegionId, double> functions, bodies, libraries;
  double in_functions = 0, in_bodies = 0, in_libraries = 0;
  for (const PathTime& path : times.paths) {
    const CallPath& outermost = paths[path.node.value()];
    const double time = path.working + path.waiting;
    if (outermost.function.defined()) {
      functions[region_at(tree, outermost.function)] += time;
      in_functions += time;
    } else if (outermost.outermost.defined()) {
      bodies[region_at(tree, outermost.outermost)] += time;
      in_bodies += time;
    } else if (outermost.library.defined()) {
      libraries[region_at(tree, outermost.library)] += time;
      in_libraries += time;
    }
  }
  if (functions.empty() && bodies.empty()) return largest_of(libraries, in_libraries);
  return in_functions >= in_bodies ? largest_of(functions, in_functions)
                                   : largest_of(bodies, in_bodies);
}

double sum_of(const Worker& worker, double WorkerTimes::*which) {
  double sum = 0;
  for (const WorkerTimes* thread : worker.threads) sum += thread->*which;
  return sum;
}

}  // namespace

double Worker::working() const { return sum_of(*this, &WorkerTimes::working); }
double Worker::waiting() const { return sum_of(*this, &WorkerTimes::waiting); }
double Worker::first() const {
  return (*std::ranges::min_element(threads, {}, &WorkerTimes::first))->first;
}
double Worker::last() const {
  return (*std::ranges::max_element(threads, {}, &WorkerTimes::last))->last;
}

std::vector<WorkerTimes> worker_times(const profile::CallTree& tree, const CallPaths& paths,
                                      const profile::LocationFilter& filter) {
  std::vector<std::int64_t> inside(tree.nodes.size());
  std::vector<WorkerTimes> all;
  const std::uint64_t begin = tree.definitions.clock.begin;
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    const Location& location = tree.definitions.locations[i];
    const profile::LocationProfile& profile = tree.locations[i];
    if (location.type != LocationType::kCpuThread || profile.cells.empty()) continue;
    if (filter && !filter(location)) continue;
    WorkerTimes& times = all.emplace_back();
    times.location = i;
    times.first = seconds(ticks(profile.first) - begin, tree.definitions);
    times.last = seconds(ticks(profile.last) - begin, tree.definitions);
    add_paths(tree, profile, inside, times);
    const auto suspended = [&](const PathTime& path) { return is_suspended(tree, path); };
    if (std::ranges::none_of(times.paths, suspended)) times.role = role_of(tree, paths, times);
  }
  return all;
}

std::vector<std::vector<Worker>> teams_of(const profile::CallTree& tree,
                                          const std::vector<WorkerTimes>& locations) {
  const Definitions& definitions = tree.definitions;
  std::map<std::uint32_t, std::vector<const WorkerTimes*>> processes;
  for (const WorkerTimes& one : locations) {
    processes[definitions.locations[one.location].group.value()].push_back(&one);
  }
  std::map<RegionId, std::vector<Worker>> alike;
  std::map<std::pair<std::uint32_t, RegionId>, std::vector<Worker>> threads;
  for (const auto& [group, members] : processes) {
    for (const WorkerTimes* one : members) {
      if (!one->role.defined()) continue;
      threads[{group, one->role}].push_back(
          {location_name(definitions.locations[one->location]), false, {one}});
    }
    if (group >= definitions.groups.size()) continue;
    const auto busiest = std::ranges::max_element(
        members, {}, [](const WorkerTimes* one) { return one->working + one->waiting; });
    const RegionId role = (*busiest)->role;
    if (role.defined()) alike[role].push_back({definitions.groups[group].name, true, members});
  }
  std::vector<std::vector<Worker>> teams;
  for (auto& [role, workers] : alike) {
    if (workers.size() >= kLeastTeam) teams.push_back(std::move(workers));
  }
  for (auto& [key, workers] : threads) {
    if (workers.size() >= kLeastTeam) teams.push_back(std::move(workers));
  }
  return teams;
}

}  // namespace timeloom::tools
