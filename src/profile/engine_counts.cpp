#include "profile/engine_counts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>

#include "core/engines/engine_regions.hpp"
#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/text/count_text.hpp"

namespace timeloom::profile {
namespace {

// Behind the name of a worker, in the names of its threads.
constexpr std::string_view kThreadMarks[] = {"-Dask-Default-Threads", "-Dask-Actor-Threads",
                                             kDaskAsyncTasks, kDaskTransfers};
constexpr std::string_view kMainThread = "MainThread";

struct EngineWorker {
  std::string name;    // empty: none
  std::string engine;  // the group of its regions; empty: not known
};

// Workers of Dask may share a process, and then have only threads of their own.
EngineWorker named_worker(const std::string& process, const std::string& thread) {
  const std::string_view mark = kDaskWorker;
  if (process.starts_with(mark)) return {process.substr(mark.size()), kDaskGroup};
  if (process.starts_with(kRayHost)) return {};
  if (process.starts_with(kRayWorker) || process.starts_with(kRayActor)) {
    return {process, kRayGroup};
  }
  if (process.starts_with(kSparkWorker)) return {process, kSparkGroup};
  for (const std::string_view part : kThreadMarks) {
    const std::size_t at = thread.find(part);
    if (at != std::string::npos) return {thread.substr(0, at), kDaskGroup};
  }
  return {};
}

// Forked workers of Celery, joblib and multiprocessing.Pool have the same names.
std::string engine_of_forked(const CallTree& tree) {
  for (const Region& region : tree.definitions.regions) {
    const bool forks = region.group == kCeleryGroup || region.group == kJoblibGroup;
    if (forks && is_engine_task(region)) return region.group;
  }
  return kPoolGroup;
}

// A worker without a name of its own is the process, or a further thread of it.
std::string plain_worker(const std::string& process, const std::string& thread) {
  const std::string name = process.substr(process.rfind('/') + 1);
  return thread == kMainThread ? name : name + " " + thread;
}

const std::string& host_of(const Definitions& definitions, const Location& location) {
  const std::uint32_t group = location.group.value();
  return group < definitions.groups.size() ? definitions.groups[group].hostname
                                           : definitions.machine_name;
}

bool has_several_hosts(const Definitions& definitions) {
  return std::ranges::any_of(definitions.groups, [&](const LocationGroup& group) {
    return group.hostname != definitions.groups.front().hostname;
  });
}

// ", clocks within 310 µs": of different hosts; empty: they were not compared.
std::string clock_text(const Definitions& definitions) {
  const auto found = definitions.properties.find(kClockError);
  if (found == definitions.properties.end()) return {};
  const double us = std::strtod(found->second.c_str(), nullptr) / 1000;
  const bool short_time = us < 1000;
  return ", clocks within " + three_digits(short_time ? us : us / 1000) +
         (short_time ? " µs" : " ms");
}

const std::string& process_name(const Definitions& definitions, const Location& location) {
  const std::uint32_t group = location.group.value();
  return group < definitions.groups.size() ? definitions.groups[group].name
                                           : definitions.machine_name;
}

bool is_task(const CallTree& tree, const std::vector<RegionId>& tasks, NodeId node) {
  const RegionId task = tasks[node.value()];
  return task.defined() && tree.nodes[node.value()].region == task;
}

EngineWorker worker_of(const CallTree& tree, const std::vector<RegionId>& tasks,
                       std::size_t index) {
  const Location& location = tree.definitions.locations[index];
  const std::string& process = process_name(tree.definitions, location);
  EngineWorker worker = named_worker(process, location.name);
  if (process.starts_with(kForkedWorker) && location.name == kMainThread) {
    worker = {process, engine_of_forked(tree)};
  }
  for (const Cell& cell : tree.locations[index].cells) {
    // The threads of a team that the task forks have only time in its call path.
    if (!is_task(tree, tasks, cell.node) || cell.statistics.visits == 0) continue;
    worker.engine = tree.definitions.regions[tasks[cell.node.value()].value()].group;
    if (worker.name.empty()) worker.name = plain_worker(process, location.name);
    break;
  }
  return worker;
}

struct EngineSum {
  std::set<std::string> workers, hosts;
  std::uint64_t tasks = 0;
  std::uint64_t of_others = 0;  // tasks of other clients
};

void add_tasks(const CallTree& tree, const std::vector<RegionId>& tasks, std::size_t location,
               EngineSum& sum) {
  for (const Cell& cell : tree.locations[location].cells) {
    const RegionId region = tree.nodes[cell.node.value()].region;
    const bool is_other =
        region.defined() && is_other_task(tree.definitions.regions[region.value()]);
    if (is_other) sum.of_others += cell.statistics.visits;
    if (is_task(tree, tasks, cell.node)) sum.tasks += cell.statistics.visits;
  }
}

// ", 2 tasks, without 3 tasks of other clients"
std::string task_text(const EngineSum& sum) {
  const std::string text = ", " + plural(sum.tasks, "task");
  if (sum.of_others == 0) return text;
  return text + ", without " + plural(sum.of_others, "task") + " of other clients";
}

}  // namespace

std::vector<RegionId> tasks_of_nodes(const CallTree& tree) {
  std::vector<RegionId> tasks;
  tasks.reserve(tree.nodes.size());
  for (const Node& node : tree.nodes) {
    const bool own =
        node.region.defined() && is_engine_task(tree.definitions.regions[node.region.value()]);
    const RegionId above = node.parent.defined() ? tasks[node.parent.value()] : RegionId();
    tasks.push_back(own ? node.region : above);
  }
  return tasks;
}

std::vector<std::string> workers_of_locations(const CallTree& tree,
                                              const std::vector<RegionId>& tasks) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    names.push_back(worker_of(tree, tasks, i).name);
  }
  return names;
}

std::string worker_of_task(const Definitions& definitions, const Location& location) {
  const std::string& process = process_name(definitions, location);
  const EngineWorker worker = named_worker(process, location.name);
  return worker.name.empty() ? plain_worker(process, location.name) : worker.name;
}

std::string engine_text(const CallTree& tree) {
  const std::vector<RegionId> tasks = tasks_of_nodes(tree);
  const bool several_hosts = has_several_hosts(tree.definitions);
  const bool sampled = has_sampled_calls(tree.definitions);
  std::map<std::string, EngineSum> engines;
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    const EngineWorker worker = worker_of(tree, tasks, i);
    if (worker.engine.empty()) continue;
    EngineSum& sum = engines[worker.engine];
    sum.workers.insert(worker.name);
    sum.hosts.insert(host_of(tree.definitions, tree.definitions.locations[i]));
    add_tasks(tree, tasks, i, sum);
  }
  std::string text;
  for (const auto& [engine, sum] : engines) {
    text += (text.empty() ? "" : ", ") + plural(sum.workers.size(), "worker");
    if (several_hosts) text += " on " + plural(sum.hosts.size(), "host");
    text += " (" + engine + ")";
    // Of calls that are made of samples, the number is not known.
    if (!sampled) text += task_text(sum);
  }
  return text.empty() ? text : text + clock_text(tree.definitions);
}

}  // namespace timeloom::profile
