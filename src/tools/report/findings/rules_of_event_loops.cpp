// Rules about asyncio's event loop.

#include <algorithm>
#include <map>

#include "tools/report/findings/finding.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr char kHandle[] = "asyncio.events.Handle._run";  // runs one callback or step of a task
constexpr double kMuchHeld = 0.2;                         // of the wall time
constexpr double kLeastHeld = 0.1;                        // seconds
constexpr double kLongStep = 0.02;                        // seconds, on average
constexpr double kLongWork = 0.005;                       // the same, of work
constexpr double kLongestStep = 0.2;                      // seconds, of one step
constexpr std::int64_t kOthers = 20;                      // steps and callbacks that want the loop

// The steps of one function of the project, which the loop calls.
struct Steps {
  std::int64_t visits = 0;
  double working = 0;  // with the calls inside
  double waiting = 0;  // the same, without waiting for a processor
  double longest = 0;
  double held() const { return working + waiting; }
  double each() const { return held() / static_cast<double>(std::max<std::int64_t>(visits, 1)); }
};

struct LoopSteps {
  std::map<RegionId, Steps> functions;
  std::int64_t handles = 0;
};

void add_longest(const profile::CallTree& tree, const std::vector<profile::NodeId>& steps,
                 LoopSteps& loop) {
  for (const profile::LocationProfile& location : tree.locations) {
    for (const profile::Cell& cell : location.cells) {
      if (steps[cell.node.value()] != cell.node) continue;
      Steps& function = loop.functions[tree.nodes[cell.node.value()].region];
      function.longest = std::max(function.longest, seconds(cell.statistics.max, tree.definitions));
    }
  }
}

LoopSteps steps_of_loops(const FoundIn& run) {
  const profile::CallTree& tree = run.tree;
  const WorkTimes& times = run.answer.times();
  LoopSteps loop;
  std::vector<bool> inside(tree.nodes.size());
  // By node, the outermost function of the project below a handle: itself or an ancestor.
  std::vector<profile::NodeId> steps(tree.nodes.size());
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const profile::Node& node = tree.nodes[i];
    const bool handle =
        node.region.defined() && tree.definitions.regions[node.region.value()].name == kHandle;
    if (handle) loop.handles += times.visits[i];
    inside[i] = handle || (node.parent.defined() && inside[node.parent.value()]);
    if (node.parent.defined()) steps[i] = steps[node.parent.value()];
    if (!steps[i].defined() && inside[i] && run.answer.owner().is_project(node.region)) {
      steps[i] = profile::NodeId{i};
      loop.functions[node.region].visits += times.visits[i];
    }
    if (!steps[i].defined()) continue;
    Steps& function = loop.functions[tree.nodes[steps[i].value()].region];
    function.working += times.working[i];
    function.waiting += times.waiting[i] - times.causes[i][WaitingCause::kProcessor];
  }
  add_longest(tree, steps, loop);
  return loop;
}

bool holds_the_loop(const Steps& steps, std::int64_t handles, double wall) {
  if (handles - steps.visits < std::max(kOthers, steps.visits)) return false;
  if (steps.held() < kMuchHeld * wall || steps.held() < kLeastHeld) return false;
  const auto visits = static_cast<double>(std::max<std::int64_t>(steps.visits, 1));
  const bool works = steps.working >= kMuchHeld * wall && steps.working >= kLongWork * visits;
  const bool once = steps.longest >= kLongestStep && steps.longest >= kMuchHeld * wall;
  return works || once || steps.each() >= kLongStep;
}

}  // namespace

void find_held_loops(const FoundIn& run, Findings& findings) {
  const LoopSteps loop = steps_of_loops(run);
  for (const auto& [region, steps] : loop.functions) {
    if (!holds_the_loop(steps, loop.handles, run.wall)) continue;
    const std::string name = printable(run.answer.region_name(region));
    findings.push_back(
        {"held-loop",
         formatted("{} holds the event loop {} at a time (longest {}): for {} no other task runs",
                   name, duration(steps.each(), run.terminal, " "),
                   duration(steps.longest, run.terminal, " "),
                   duration(steps.held(), run.terminal, " ")),
         "report --function " + name,
         steps.held(),
         {{"steps", static_cast<double>(steps.visits)},
          {"working_s", steps.working},
          {"waiting_s", steps.waiting},
          {"longest_s", steps.longest}}});
  }
}

}  // namespace timeloom::tools
