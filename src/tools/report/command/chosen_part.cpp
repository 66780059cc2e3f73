#include "tools/report/command/chosen_part.hpp"

#include <algorithm>
#include <string_view>
#include <thread>

#include "core/error.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/window.hpp"
#include "exchange/names.hpp"
#include "exchange/selection.hpp"
#include "tools/convert/convert_run.hpp"
#include "tools/run/open_run.hpp"
#include "tools/samples/run_estimates.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/wrong_usage.hpp"
#include "tools/view/viewed_run.hpp"
#include "view/answers/range_tree.hpp"

namespace timeloom::tools {

namespace {

// In nanoseconds since the start of the run.
struct Stretch {
  std::uint64_t from = 0;
  std::uint64_t to = UINT64_MAX;
};

std::uint64_t time_of(const std::string& text, const char* option, std::uint64_t otherwise) {
  const WindowPoint point = window_point_of(text, option);
  if (point.kind == WindowPoint::Kind::kNone) return otherwise;
  if (point.kind == WindowPoint::Kind::kRegion) {
    throw WrongUsage(std::string(option) +
                     " takes a time since the start of the run, such as 2.5s [TL418]");
  }
  return point.ns;
}

// Ticks since the start of the run.
std::uint64_t ticks_since_begin(std::uint64_t ns, const Definitions& definitions) {
  return ticks(exchange::RunClock(definitions.clock).at(ns)) - definitions.clock.begin;
}

Stretch chosen_stretch(const ReportOptions& options, const Definitions& definitions) {
  const Stretch chosen{time_of(options.from, "--from", 0), time_of(options.to, "--to", UINT64_MAX)};
  if (chosen.to < chosen.from) throw WrongUsage("--to is before --from [TL408]");
  const std::uint64_t length = definitions.clock.length;
  if (length > 0 && ticks_since_begin(chosen.from, definitions) > length) {
    const Terminal terminal = Terminal::detect(options.colour);
    throw Error("--from " + options.from + " is beyond the end of the run, which is " +
                duration(seconds(length, definitions), terminal, " ") + " long [TL419]");
  }
  return chosen;
}

// Of calls that are made of samples: the number of samples of a call path in a part of the run is
// in the trace, not in its index.
profile::CallTree tree_of_samples(const std::filesystem::path& run, const ReportOptions& options) {
  exchange::Selection selection;
  selection.window.from = window_point_of(options.from, "--from");
  selection.window.until = window_point_of(options.to, "--to");
  return chosen_paths(run, selection, std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

std::set<LocationId> selected_locations(const ReportOptions& options,
                                        const Definitions& definitions) {
  const auto is_any = [](const std::vector<std::string>& wanted, const std::string& name,
                         std::uint64_t id) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& one) {
      return one == name || one == std::to_string(id);
    });
  };
  std::set<LocationId> ids;
  for (const Location& location : definitions.locations) {
    // The time of queues of a GPU is none of the program's threads.
    const bool queue = location.type == LocationType::kAcceleratorStream;
    if (queue && options.threads.empty()) continue;
    const std::uint32_t group = location.group.value();
    const bool known = group < definitions.groups.size();
    const std::string& process = known ? definitions.groups[group].name : definitions.machine_name;
    if (!options.groups.empty() && !is_any(options.groups, process, group)) continue;
    if (!options.threads.empty() &&
        !is_any(options.threads, location_name(location), location.id.value()))
      continue;
    ids.insert(location.id);
  }
  if (ids.empty() && !options.groups.empty() && options.threads.empty()) {
    throw Error("no process '" + options.groups.front() +
                "' in this run; 'timeloom info' lists them [TL415]");
  }
  if (ids.empty() && !options.threads.empty()) {
    throw Error("no thread '" + options.threads.front() +
                "' in this run or in that process; 'timeloom info' lists them [TL415]");
  }
  return ids;
}

std::string scope_of(const std::set<LocationId>& ids, const Definitions& definitions) {
  const RunFacts facts = facts_of(definitions);
  const auto queues =
      std::ranges::count(definitions.locations, LocationType::kAcceleratorStream, &Location::type);
  const bool all = ids.size() + static_cast<std::size_t>(queues) == definitions.locations.size();
  if (facts.has_tasks() && all) {
    return threads_and_tasks(facts.threads, facts.tasks, facts.task_lanes);
  }
  // A location by itself does not tell whether it is a thread or one of tasks.
  const std::string noun = facts.has_tasks() ? "location" : "thread";
  std::vector<const Location*> chosen;
  for (const Location& location : definitions.locations) {
    const bool of_metrics = location.type == LocationType::kMetric;
    if (ids.contains(location.id) && !of_metrics) chosen.push_back(&location);
  }
  if (chosen.size() != 1 || all) return plural(chosen.size(), noun);
  return noun + " " + printable(location_name(*chosen.front()));
}

bool of_a_part(const ReportOptions& options) {
  return !options.from.empty() || !options.to.empty();
}

std::optional<SamplePart> chosen_samples(const ReportOptions& options,
                                         const Definitions& definitions) {
  const bool all_threads = options.threads.empty() && options.groups.empty();
  if (all_threads && !of_a_part(options)) return std::nullopt;
  const Stretch stretch = chosen_stretch(options, definitions);
  SamplePart part{.from = stretch.from, .until = stretch.to};
  if (!all_threads) part.locations = selected_locations(options, definitions);
  return part;
}

profile::CallTree chosen_tree(const ReportOptions& options, const std::filesystem::path& run) {
  if (!of_a_part(options)) return call_tree_of(run);
  ViewedRun viewed(run);
  const Definitions& definitions = viewed.definitions();
  const auto [from, to] = chosen_stretch(options, definitions);
  if (has_sampled_calls(definitions)) return tree_of_samples(run, options);
  const std::uint64_t end = to == UINT64_MAX ? view::kLastTime : ticks_since_begin(to, definitions);
  profile::CallTree tree =
      view::range_tree(*viewed.index(), definitions, ticks_since_begin(from, definitions), end);
  add_estimates(tree, run, {.from = from, .until = to});
  return tree;
}

std::optional<CallCost> taken_away(const ReportOptions& options, const profile::CallTree& tree) {
  if (!options.compensate) return std::nullopt;
  return call_cost_of(tree.definitions);
}

}  // namespace timeloom::tools
