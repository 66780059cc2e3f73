#include "tools/run/run_facts.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "core/engines/engine_regions.hpp"
#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/text/shell_word.hpp"
#include "core/throttled.hpp"
#include "profile/call_tree.hpp"
#include "tools/report/memory/report_memory.hpp"
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

std::uint64_t unseen_cpu(const RunFacts& facts) noexcept {
  std::uint64_t rest = facts.cpu.other;
  for (const auto& [name, sum] : facts.native_threads) rest -= std::min(rest, sum.cpu_ns);
  return rest;
}

namespace {

// Work is what clocks of threads have measured between events, so sums of it are not exact.
constexpr double kLeastOutside = 0.02;  // of the CPU time

// "1.90 s of CPU time (31.2% of all)"; empty: too little to matter.
std::string share_of_cpu(std::uint64_t cpu_ns, const RunFacts& facts, const Terminal& terminal,
                         double least_share = 0.01) {
  // Below it is what the clocks of threads and processes differ by, and the end of the program.
  constexpr double kLeastTime = 0.02;
  const double time = static_cast<double>(cpu_ns) * 1e-9;
  const double share =
      facts.cpu.known() ? time / (static_cast<double>(facts.cpu.process) * 1e-9) : 0;
  if (time < kLeastTime || share < least_share) return {};
  return formatted("{} of CPU time ({} of all)", duration(time, terminal, " "), percent(share));
}

// "python3 1.70 s, OpenBLAS 200 ms", the largest first; no more than a few.
std::string largest_names(const NativeThreadsByName& threads, const Terminal& terminal) {
  constexpr std::size_t kMostNames = 3;
  std::vector<std::pair<std::uint64_t, std::string_view>> names;
  for (const auto& [name, sum] : threads) names.emplace_back(sum.cpu_ns, name);
  std::ranges::stable_sort(names, std::greater(), &decltype(names)::value_type::first);
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    const auto& [cpu_ns, name] = names[i];
    text += formatted("{}{} {}", i == 0 ? "" : ", ", printable(name),
                      duration(static_cast<double>(cpu_ns) * 1e-9, terminal, " "));
  }
  return names.size() > kMostNames ? text + ", ..." : text;
}

}  // namespace

std::vector<std::string> other_cpu_lines(const RunFacts& facts, const Terminal& terminal) {
  std::vector<std::string> lines;
  const std::uint64_t unseen = unseen_cpu(facts);
  if (std::string text = share_of_cpu(facts.cpu.other - unseen, facts, terminal); !text.empty()) {
    std::uint64_t threads = 0;
    for (const auto& [name, sum] : facts.native_threads) threads += sum.threads;
    const char* const kind = facts.windowed ? "threads that recorded nothing" : "native threads";
    lines.push_back(formatted("{}: {}, {}: {}", kind, count(threads), text,
                              largest_names(facts.native_threads, terminal)));
  }
  if (std::string text = share_of_cpu(unseen, facts, terminal); !text.empty()) {
    lines.push_back(text + " in threads that ended unseen");
  }
  if (std::string text = share_of_cpu(facts.outside_cpu, facts, terminal, kLeastOutside);
      !text.empty()) {
    lines.push_back(text + " of recorded threads outside of functions");
  }
  return lines;
}

std::string in_processes(std::string threads, const RunFacts& facts) {
  return facts.processes > 1 ? threads + " in " + plural(facts.processes, "process") : threads;
}

std::string memory_text(const RunFacts& facts) {
  if (facts.memory_peak) return "peak " + bytes(*facts.memory_peak);
  if (!facts.resident.known()) return {};
  return (facts.processes > 1 ? "largest RSS " : "peak RSS ") + bytes(facts.resident.peak);
}

std::vector<std::string> memory_limit_lines(const RunFacts& facts) {
  const auto& [peak, limit] = facts.resident;
  if (!facts.resident.is_near()) return {};
  return {formatted("memory: the peak RSS of {} is {} of the limit of its control group",
                    bytes(peak), percent(static_cast<double>(peak) / static_cast<double>(limit)))};
}

double seconds(std::uint64_t ticks, const Definitions& definitions) {
  return static_cast<double>(profile::signed_value(ticks)) /
         static_cast<double>(definitions.clock.ticks_per_second);
}

std::string location_name(const Location& location) { return display_name(location); }

std::string of_process(const Definitions& definitions, std::uint64_t group) {
  const std::vector<LocationGroup>& groups = definitions.groups;
  return groups.size() > 1 && group < groups.size() ? " of " + groups[group].name : "";
}

std::vector<std::string> parameter_names(const Definitions& definitions) {
  std::vector<std::string> names;
  for (const Parameter& parameter : definitions.parameters) {
    if (std::ranges::find(names, parameter.name) == names.end()) names.push_back(parameter.name);
  }
  return names;
}

namespace {

// "sampled: 2,310 every 1 ms of CPU time".
std::string samples_text(const std::map<std::string, std::string>& properties) {
  const auto number = [&](const char* key) {
    const auto found = properties.find(key);
    return found == properties.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
  };
  const double period = static_cast<double>(number(kSamplePeriod)) * 1e-6;
  if (period == 0) return "not sampled";
  return formatted("sampled: {} every {:g} ms", plural(number(kSampleCount), "time"), period);
}

}  // namespace

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
  if (has_sampled_calls(definitions)) facts.samples = samples_text(definitions.properties);
  if (const auto engine = definitions.properties.find(kEngine);
      engine != definitions.properties.end()) {
    facts.engine = engine->second;
  }
  facts.tasks = counted(definitions, kTasks);
  facts.task_lanes = std::min(counted(definitions, kTaskLanes), facts.threads);
  if (facts.task_lanes == 0) facts.tasks = std::min(facts.tasks, facts.threads);
  facts.threads -= facts.task_lanes > 0 ? facts.task_lanes : facts.tasks;
  if (const auto cpu = definitions.properties.find(kCpuTimes);
      cpu != definitions.properties.end()) {
    facts.cpu = cpu_times_of(cpu->second);
  }
  if (const auto native = definitions.properties.find(kNativeThreads);
      native != definitions.properties.end()) {
    facts.native_threads = native_threads_of(native->second);
  }
  const auto window = definitions.properties.find(kWindow);
  facts.windowed = window != definitions.properties.end() && !window->second.empty();
  facts.gpu = gpu_shares(definitions);
  if (const auto memory = memory_peak(definitions)) facts.memory_peak = memory->peak;
  if (const auto resident = definitions.properties.find(kResidentPeak);
      resident != definitions.properties.end()) {
    facts.resident = resident_peak_of(resident->second);
  }
  const ThrottledFunctions throttled(definitions.properties);
  facts.throttled.assign(throttled.entries().begin(), throttled.entries().end());
  facts.truncated.assign(throttled.truncated().begin(), throttled.truncated().end());
  facts.was_paused = throttled.was_paused();
  facts.observed_share = throttled.observed_share();
  for (Loss& loss : losses_of(definitions)) facts.losses.push_back(std::move(loss.text));
  return facts;
}

}  // namespace timeloom::tools
