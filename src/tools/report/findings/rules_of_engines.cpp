// Rules about the tasks of engines and pools.

#include <algorithm>
#include <array>
#include <string_view>

#include "core/engines/engine_regions.hpp"
#include "core/regions/dotted_name.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::int64_t kManySmallTasks = 300;
constexpr double kSmallTask = 1e-3;   // seconds, on average
constexpr double kCostly = 2;         // times the work of a task, for handing it over
constexpr double kMuchHanding = 0.4;  // of all work

// The modules, by the first part of their names, whose work hands tasks and results over.
constexpr std::array<std::string_view, 19> kEngineModules = {
    "concurrent", "multiprocessing", "threading", "queue",       "selectors",
    "pickle",     "joblib",          "loky",      "cloudpickle", "distributed",
    "dask",       "tornado",         "celery",    "kombu",       "billiard",
    "ray",        "pyspark",         "py4j",      "msgpack"};

struct Tasks {
  std::int64_t count = 0;
  double working = 0;  // in tasks, with the calls inside
  double waiting = 0;  // the same
  double handing = 0;  // in the engine's functions, outside of tasks
  std::string engine;  // of the first task
};

Tasks tasks_of(const FoundIn& run) {
  const auto& regions = run.tree.definitions.regions;
  const WorkTimes& times = run.answer.times();
  std::vector<bool> inside(run.tree.nodes.size());
  Tasks tasks;
  for (std::size_t i = 0; i < run.tree.nodes.size(); ++i) {
    const profile::Node& node = run.tree.nodes[i];
    inside[i] = node.parent.defined() && inside[node.parent.value()];
    if (!node.region.defined()) continue;
    const Region& region = regions[node.region.value()];
    if (!inside[i] && is_engine_task(region)) {
      inside[i] = true;
      tasks.count += times.visits[i];
      if (tasks.engine.empty()) tasks.engine = region.group;
    }
    const bool engine = !run.paths[i].is_in_import() &&
                        !run.answer.owner().is_project(node.region) &&
                        std::ranges::find(kEngineModules, first_part(dotted_name(region.name))) !=
                            kEngineModules.end();
    if (inside[i]) {
      tasks.working += times.working[i];
      tasks.waiting += times.waiting[i];
    } else if (engine) {
      tasks.handing += times.working[i];
    }
  }
  return tasks;
}

}  // namespace

void find_small_tasks(const FoundIn& run, Findings& findings) {
  const Tasks tasks = tasks_of(run);
  const auto count_of = static_cast<double>(tasks.count);
  if (tasks.count < kManySmallTasks || tasks.working + tasks.waiting > kSmallTask * count_of)
    return;
  if (tasks.handing < kCostly * tasks.working) return;
  if (tasks.handing < kMuchHanding * run.answer.times().all_working) return;
  findings.push_back(
      {"small-tasks",
       formatted("{} tasks of {} work {} each, and handing one over takes {}: fewer, larger tasks",
                 count(static_cast<std::uint64_t>(tasks.count)), printable(tasks.engine),
                 duration(tasks.working / count_of, run.terminal, " "),
                 duration(tasks.handing / count_of, run.terminal, " ")),
       "report --by process",
       std::min(tasks.handing, run.wall),
       {{"tasks", count_of}, {"working_s", tasks.working}, {"handing_s", tasks.handing}}});
}

}  // namespace timeloom::tools
