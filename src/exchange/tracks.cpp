#include "exchange/tracks.hpp"

#include <algorithm>
#include <set>

#include "core/run_properties.hpp"
#include "exchange/format_text.hpp"
#include "exchange/names.hpp"

namespace timeloom::exchange {

namespace {

// No process or thread of Linux has such a number, and JSON represents it exactly.
constexpr std::uint64_t kNumbersOfOurOwn = 1 << 22;

std::vector<Process> processes_of(const Definitions& definitions) {
  std::vector<Process> processes;
  std::set<std::uint64_t> taken;
  for (const LocationGroup& group : definitions.groups) {
    Process process{group.process_id, utf8(group.name), utf8(command_of(group))};
    const bool usable = process.id > 0 && process.id < kNumbersOfOurOwn;
    if (!usable || !taken.insert(process.id).second) {
      process.id = kNumbersOfOurOwn + 1 + processes.size();
    }
    processes.push_back(std::move(process));
  }
  if (processes.empty()) processes.push_back({1, utf8(definitions.machine_name), {}});
  return processes;
}

}  // namespace

void mark_tasks(Definitions& definitions) {
  if (!has_task_locations(definitions.properties)) return;
  std::set<std::pair<LocationGroupId, std::uint64_t>> taken;
  for (Location& location : definitions.locations) {
    if (!taken.emplace(location.group, location.thread_id).second) location.thread_id = 0;
  }
}

Tracks::Tracks(const Definitions& definitions)
    : processes(processes_of(definitions)), locations_(&definitions.locations) {
  const bool tasks = has_task_locations(definitions.properties);
  std::set<std::pair<std::size_t, std::uint64_t>> taken;
  for (const Location& location : definitions.locations) {
    Track track;
    track.name = utf8(display_name(location));
    const std::uint32_t group = location.group.value();
    track.process = group < processes.size() ? group : 0;
    track.thread = location.thread_id;
    const bool usable = track.thread > 0 && track.thread < kNumbersOfOurOwn;
    if (!usable || !taken.emplace(track.process, track.thread).second) {
      // A task has the number of its thread. Without tasks, an equal number means that the system
      // reused it.
      if (tasks) track.kind = TrackKind::kTask;
      track.thread = kNumbersOfOurOwn + 1 + processes.size() + tracks.size();
    }
    if (location.type == LocationType::kMetric) track.kind = TrackKind::kMetrics;
    tracks.push_back(std::move(track));
  }
}

std::size_t Tracks::index_of(LocationId location) const {
  const auto found = std::ranges::lower_bound(*locations_, location, {}, &Location::id);
  return static_cast<std::size_t>(found - locations_->begin());
}

const Track& Tracks::of(LocationId location) const { return tracks[index_of(location)]; }

}  // namespace timeloom::exchange
