#include "tools/run/run_facts.hpp"

#include <algorithm>
#include <utility>

#include "core/run_properties.hpp"
#include "core/text/shell_word.hpp"
#include "core/throttled.hpp"
#include "profile/call_tree.hpp"
#include "tools/report/report_gpu.hpp"
#include "tools/run/run_losses.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "weave/gpu/gpu_names.hpp"

namespace timeloom::tools {

namespace {

// As one would type it, without the directories of the executable.
std::string program_of(const LocationGroup& group) {
  if (group.executable.empty()) return {};
  std::string line = group.executable.substr(group.executable.rfind('/') + 1);
  for (const std::string& argument : group.arguments) line += " " + shell_word(argument);
  return line;
}

}  // namespace

std::string other_cpu_text(const CpuTimes& cpu, const Terminal& terminal) {
  // Below it is what the clocks of threads and processes differ by, and the end of the program.
  constexpr double kLeastSeconds = 0.02, kLeastShare = 0.01;
  const double other = static_cast<double>(cpu.other) * 1e-9;
  const double share = cpu.known() ? other / (static_cast<double>(cpu.process) * 1e-9) : 0;
  if (other < kLeastSeconds || share < kLeastShare) return {};
  return formatted("{} of CPU time ({} of all) in threads that recorded nothing",
                   duration(other, terminal, " "), percent(share));
}

double seconds(std::uint64_t ticks, const Definitions& definitions) {
  return static_cast<double>(profile::signed_value(ticks)) /
         static_cast<double>(definitions.clock.ticks_per_second);
}

std::string location_name(const Location& location) { return display_name(location); }

std::vector<std::string> parameter_names(const Definitions& definitions) {
  std::vector<std::string> names;
  for (const Parameter& parameter : definitions.parameters) {
    if (std::ranges::find(names, parameter.name) == names.end()) names.push_back(parameter.name);
  }
  return names;
}

RunFacts facts_of(const Definitions& definitions) {
  RunFacts facts;
  if (!definitions.groups.empty()) {
    facts.program = program_of(definitions.groups.front());
    facts.host = definitions.groups.front().hostname;
  }
  facts.start = definitions.clock.realtime;
  facts.wall_seconds = seconds(definitions.clock.length, definitions);
  facts.processes = definitions.groups.size();
  for (const Location& location : definitions.locations) {
    facts.events += location.event_count;
    const bool measures = location.type == LocationType::kMetric;
    if (!measures && location.type != LocationType::kAcceleratorStream) ++facts.threads;
  }
  facts.tasks = counted(definitions, kTasks);
  facts.task_lanes = std::min(counted(definitions, kTaskLanes), facts.threads);
  if (facts.task_lanes == 0) facts.tasks = std::min(facts.tasks, facts.threads);
  facts.threads -= facts.task_lanes > 0 ? facts.task_lanes : facts.tasks;
  if (const auto cpu = definitions.properties.find(kCpuTimes);
      cpu != definitions.properties.end()) {
    facts.cpu = cpu_times_of(cpu->second);
  }
  facts.gpu_busy = gpu_busy(definitions);
  const ThrottledFunctions throttled(definitions.properties);
  facts.throttled.assign(throttled.entries().begin(), throttled.entries().end());
  facts.truncated.assign(throttled.truncated().begin(), throttled.truncated().end());
  facts.was_paused = throttled.was_paused();
  facts.observed_share = throttled.observed_share();
  for (Loss& loss : losses_of(definitions)) facts.losses.push_back(std::move(loss.text));
  return facts;
}

}  // namespace timeloom::tools
