// Rules about asyncio's event loop.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/regions/dotted_name.hpp"
#include "core/text/shell_word.hpp"
#include "core/waiting_metric.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr char kHandle[] = "asyncio.events.Handle._run";  // runs one callback or step of a task
constexpr double kMuchHeld = 0.2;                         // of the wall time
constexpr double kLeastHeld = 0.1;                        // seconds
constexpr double kMuchMoreHeld = 0.1;  // of the wall time, beside the longest step
constexpr double kLongStep = 0.02;     // seconds, on average
constexpr double kLongWork = 0.005;    // the same, of work
constexpr std::int64_t kOthers = 20;   // steps and callbacks that want the loop

// The steps of one function of the project, which the loop calls.
struct Steps {
  std::int64_t visits = 0;
  double working = 0;  // with the calls inside
  double waiting = 0;
  double longest = 0;
  double held() const { return working + waiting; }
  // A coroutine has short steps beside its long ones, in which it only goes on to its next await:
  // whether a quarter of the steps may be as long as the longest.
  bool has_long_ones(double seconds) const {
    return longest >= seconds && 4 * held() >= longest * static_cast<double>(visits);
  }
  double each() const { return held() / static_cast<double>(std::max<std::int64_t>(visits, 1)); }
};

// By call path, whether the loop runs it, and in which step: the outermost function of the project
// below a handle. Imports are not steps: a server may load the program within its loop.
struct LoopPath {
  bool handle = false;        // it is one
  profile::NodeId outermost;  // the handle from which the loop runs it; undefined: none
  bool imports = false;       // within the loop
  profile::NodeId step;
};

// Whether one of two call paths around a third is inside the other; undefined: there is none.
bool is_below(profile::NodeId path, profile::NodeId outer) {
  return path.defined() && outer.defined() && path > outer;
}

std::vector<bool> are_handles(const Definitions& definitions) {
  std::vector<bool> handles;
  for (const Region& region : definitions.regions) {
    handles.push_back(dotted_name(region.name) == kHandle);
  }
  return handles;
}

std::vector<LoopPath> paths_of_loops(const FoundIn& run) {
  const profile::CallTree& tree = run.tree;
  const std::vector<bool> handles = are_handles(tree.definitions);
  std::vector<LoopPath> paths(tree.nodes.size());
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const profile::Node& node = tree.nodes[i];
    LoopPath& path = paths[i];
    if (node.parent.defined()) path = paths[node.parent.value()];
    path.handle = node.region.defined() && handles[node.region.value()];
    if (path.handle && !path.outermost.defined()) path.outermost = profile::NodeId{i};
    path.imports = is_below(run.paths[i].import, path.outermost) ||
                   is_below(run.paths[i].body, path.outermost);
    const bool steps = path.outermost.defined() && !path.imports && !path.step.defined();
    if (steps && run.answer.owner().is_project(node.region)) path.step = profile::NodeId{i};
  }
  return paths;
}

struct LoopSteps {
  std::map<RegionId, Steps> functions;
  std::int64_t handles = 0;
};

// Of one thread. A wait for a processor does not hold the loop, where it is known.
LoopSteps steps_on(const FoundIn& run, const WorkerTimes& thread,
                   const std::vector<LoopPath>& paths) {
  LoopSteps loop;
  const profile::LocationProfile& profile = run.tree.locations[thread.location];
  for (const profile::Cell& cell : profile.cells) {
    const LoopPath& path = paths[cell.node.value()];
    const std::int64_t visits = profile::signed_value(cell.statistics.visits);
    if (path.handle) loop.handles += visits;
    if (path.step != cell.node) continue;
    Steps& steps = loop.functions[run.tree.nodes[cell.node.value()].region];
    steps.visits += visits;
    steps.longest = std::max(steps.longest, seconds(cell.statistics.max, run.tree.definitions));
  }
  const auto in_step = [&](profile::NodeId node) -> Steps* {
    const LoopPath& path = paths[node.value()];
    if (!path.step.defined() || path.imports) return nullptr;
    return &loop.functions[run.tree.nodes[path.step.value()].region];
  };
  for (const PathTime& path : thread.paths) {
    if (Steps* const steps = in_step(path.node)) {
      steps->working += path.working;
      steps->waiting += path.waiting;
    }
  }
  const std::string processor = cause_metric(WaitingCause::kProcessor).name;
  for (const profile::SampleCell& cell : profile.samples) {
    if (!cell.node.defined() ||
        run.tree.definitions.metrics[cell.metric.value()].name != processor) {
      continue;
    }
    if (Steps* const steps = in_step(cell.node)) {
      steps->waiting = std::max(steps->waiting - static_cast<double>(cell.value) * 1e-9, 0.0);
    }
  }
  return loop;
}

bool holds_the_loop(const Steps& steps, std::int64_t handles, double wall) {
  if (handles - steps.visits < std::max(kOthers, steps.visits)) return false;
  if (steps.held() < kMuchHeld * wall || steps.held() < kLeastHeld) return false;
  if (steps.held() - steps.longest < kMuchMoreHeld * wall) return false;
  const auto visits = static_cast<double>(std::max<std::int64_t>(steps.visits, 1));
  const bool works = steps.working >= kMuchHeld * wall && steps.working >= kLongWork * visits;
  return works || steps.each() >= kLongStep || steps.has_long_ones(kLongStep);
}

}  // namespace

void find_held_loops(const FoundIn& run, Findings& findings) {
  const std::vector<LoopPath> paths = paths_of_loops(run);
  if (std::ranges::none_of(paths, &LoopPath::handle)) return;
  for (const WorkerTimes& thread : run.locations) {
    const LoopSteps loop = steps_on(run, thread, paths);
    for (const auto& [region, steps] : loop.functions) {
      if (!holds_the_loop(steps, loop.handles, run.wall)) continue;
      const std::string name = printable(run.answer.region_name(region));
      findings.push_back(
          {"held-loop",
           formatted("{} holds the event loop up to {} at a time, {} in all: other tasks wait",
                     name, duration(steps.longest, run.terminal, " "),
                     duration(steps.held(), run.terminal, " ")),
           "report --function " + shell_word(name),
           steps.held(),
           {{"steps", static_cast<double>(steps.visits)},
            {"working_s", steps.working},
            {"waiting_s", steps.waiting},
            {"longest_s", steps.longest}}});
    }
  }
}

}  // namespace timeloom::tools
