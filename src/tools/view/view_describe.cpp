#include "tools/view/view_describe.hpp"

#include "core/measuring_cost.hpp"
#include "core/memory/memory_facts.hpp"
#include "core/metric_unit.hpp"
#include "core/regions/called_region.hpp"
#include "core/run_properties.hpp"
#include "core/throttled.hpp"
#include "core/waiting/cause_names.hpp"
#include "core/waiting_metric.hpp"
#include "exchange/tracks.hpp"
#include "tools/report/work_times.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {

namespace {

using Json = nlohmann::ordered_json;

const char* location_kind(const Region& region) {
  switch (region.role) {
    case RegionRole::kFunction:
    case RegionRole::kWrapper: return "function";
    case RegionRole::kCode:
    case RegionRole::kLoop: return "user";
    case RegionRole::kArtificial: return "artificial";
    default: return region.paradigm == Paradigm::kUser ? "user" : "other";
  }
}

// The group of regions that stand for tasks: src/python/observe/tasks/lanes.cpp.
constexpr std::string_view kGroupOfTasks = "tasks";

const char* location_kind(const exchange::Track& track, LocationType type) {
  switch (track.kind) {
    case exchange::TrackKind::kThread:
      return type == LocationType::kAcceleratorStream ? "stream" : "thread";
    case exchange::TrackKind::kTask: return "task";
    case exchange::TrackKind::kMetrics: break;
  }
  return "metrics";
}

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json cost_of(const Definitions& definitions, std::uint64_t events) {
  const std::optional<MeasuringCost> cost = measuring_cost_of(definitions.properties);
  if (!cost) return {};
  const Shares shares = shares_of(*cost);
  const double each = events == 0 ? 0 : cost->events / static_cast<double>(events);
  return {{"share_cpu", shares.cpu}, {"share_wall", shares.wall}, {"seconds_per_event", each}};
}

Json processes_of(const Definitions& definitions, const exchange::Tracks& tracks) {
  Json processes = Json::array();
  for (std::size_t i = 0; i < tracks.processes.size(); ++i) {
    const exchange::Process& process = tracks.processes[i];
    const bool known = i < definitions.groups.size();
    const LocationGroup group = known ? definitions.groups[i] : LocationGroup();
    Json one;
    one["name"] = process.name;
    one["pid"] = group.process_id;
    one["host"] = group.hostname;
    one["command"] = process.command;
    one["parent"] = group.creator.defined() ? Json(group.creator.value()) : Json();
    one["ending"] = group.ending;
    processes.push_back(std::move(one));
  }
  return processes;
}

// The coroutines of the tasks on a lane, in the order of their first steps: " (main, fetch)". Empty
// for a task that is a location of its own, whose name has its coroutine.
std::string coroutines_of(const view::Track& track, const Definitions& definitions) {
  constexpr std::size_t kMostNames = 3;
  std::vector<std::string> names;
  for (const view::Node& node : track.nodes()) {
    if (node.parent != view::kNone || node.region >= definitions.regions.size()) continue;
    const Region& region = definitions.regions[node.region];
    if (region.group != kGroupOfTasks) continue;
    const std::string name = region.name.substr(region.name.find_last_of(".:") + 1);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    if (names.size() > kMostNames) break;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMostNames) text += ", \u2026";
  return text.empty() ? text : " (" + text + ")";
}

// The number of the track of the thread that feeds this one.
Json feeder_of(const Definitions& definitions, const Location& location) {
  const auto& all = definitions.locations;
  const auto found = std::ranges::lower_bound(all, location.feeder, {}, &Location::id);
  const bool known =
      location.feeder.defined() && found != all.end() && found->id == location.feeder;
  return known ? Json(found - all.begin()) : Json();
}

Json tracks_of(const Definitions& definitions, const exchange::Tracks& tracks,
               const view::Index* index) {
  Json all = Json::array();
  for (std::size_t i = 0; i < tracks.tracks.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    const exchange::Track& track = tracks.tracks[i];
    const view::TrackRecord record =
        index != nullptr && i < index->tracks().size() ? index->tracks()[i] : view::TrackRecord();
    Json one;
    const bool lane = track.kind == exchange::TrackKind::kTask && record.node_count > 0;
    one["name"] = track.name;
    if (lane) one["name"] = track.name + coroutines_of(*index->track(number), definitions);
    one["process"] = track.process;
    one["kind"] = location_kind(track, definitions.locations[i].type);
    one["feeder"] = feeder_of(definitions, definitions.locations[i]);
    one["thread"] = definitions.locations[i].thread_id;
    one["events"] = index != nullptr ? record.events : definitions.locations[i].event_count;
    one["begin"] = record.begin;
    one["end"] = record.end;
    one["depth"] = record.depth;
    all.push_back(std::move(one));
  }
  return all;
}

const char* cause_word(WaitingCause cause) { return kCauseWords[static_cast<std::size_t>(cause)]; }

Json regions_of(const Definitions& definitions) {
  Json regions = Json::array();
  for (const Region& region : definitions.regions) {
    regions.push_back(
        {{"name", region.name},
         {"file", region.file},
         {"line", region.first_line},
         {"last_line", region.last_line},
         {"group", region.group},
         {"waits", waits_by_name(region.name) || is_unmeasured(region)},
         {"cause", cause_word(cause_in(region, WaitingCause::kUnknown))},
         {"suspends",
          cause_word(cause_of_suspension(region.name).value_or(WaitingCause::kUnknown))},
         {"loop", is_of_event_loop(region.name)},
         {"suspended", is_suspension(region)},
         {"called", is_called(region)},
         {"kind", location_kind(region)}});
  }
  return regions;
}

Json metrics_of(const Definitions& definitions) {
  Json metrics = Json::array();
  for (const Metric& metric : definitions.metrics) {
    const char* type = metric.type == MetricValueType::kInt64    ? "int64"
                       : metric.type == MetricValueType::kUint64 ? "uint64"
                                                                 : "double";
    metrics.push_back({{"name", metric.name},
                       {"unit", value_unit(metric)},
                       {"description", metric.description},
                       {"type", type}});
  }
  return metrics;
}

Json parameters_of(const Definitions& definitions) {
  Json parameters = Json::array();
  for (const Parameter& parameter : definitions.parameters) parameters.push_back(parameter.name);
  return parameters;
}

Json communicators_of(const Definitions& definitions) {
  Json communicators = Json::array();
  for (const Communicator& one : definitions.communicators) communicators.push_back(one.name);
  return communicators;
}

Json markers_of(const Definitions& definitions, const exchange::Tracks& tracks) {
  Json markers = Json::array();
  for (const Marker& marker : definitions.markers) {
    const std::uint64_t time = ticks(marker.time), begin = definitions.clock.begin;
    markers.push_back({{"time", time > begin ? time - begin : 0},
                       {"track", tracks.index_of(marker.location)},
                       {"text", marker.text}});
  }
  return markers;
}

// The events may lie beyond the end that the clock states.
std::uint64_t length_of(const Definitions& definitions, const view::Index* index) {
  std::uint64_t length = std::min(definitions.clock.length, view::kLastTime);
  if (index == nullptr) return length;
  for (const view::TrackRecord& track : index->tracks()) length = std::max(length, track.end);
  return length;
}

// Some times of functions are estimated from samples.
bool has_throttled_samples(const Definitions& definitions) {
  return ThrottledFunctions(definitions.properties).any() &&
         definitions.properties.contains(kSampleCount);
}

// Lines above the page.
std::vector<std::string> notices_of(const RunFacts& facts, const Definitions& definitions) {
  std::vector<std::string> lines = facts.losses;
  if (has_throttled_samples(definitions)) {
    lines.emplace_back(
        "the time of calls that --overhead left out is drawn at their callers; timeloom report and "
        "the table of functions of a page with a server estimate it [TL173]");
  }
  if (facts.samples.empty()) return lines;
  lines.insert(lines.begin(), facts.samples +
                                  "; functions are drawn from their samples, so visits here are "
                                  "samples in a row, not calls [TL062]");
  return lines;
}

}  // namespace

std::string describe_for_viewer(const Definitions& of_run, const std::string& title,
                                const view::Index* index, const std::string& marks) {
  Definitions definitions = of_run;
  if (index != nullptr) {
    for (const auto& [name, value] : index->properties()) definitions.properties[name] = value;
  }
  const exchange::Tracks tracks(definitions);
  const RunFacts facts = facts_of(definitions);
  const std::optional<std::uint64_t>& start = definitions.clock.realtime;
  Json json;
  json["version"] = 1;
  json["title"] = title;
  json["program"] = or_null(facts.program);
  json["host"] = or_null(facts.host);
  json["creator"] = or_null(definitions.creator);
  json["start_ns"] = start ? Json(std::to_string(*start)) : Json();
  json["ticks_per_second"] = definitions.clock.ticks_per_second;
  json["length"] = length_of(definitions, index);
  json["events"] = index != nullptr ? index->events() : facts.events;
  json["losses"] = notices_of(facts, definitions);
  json["cost"] = cost_of(definitions, facts.events);
  json["waiting"] = std::ranges::any_of(definitions.metrics, &Metric::is_waiting);
  json["causes"] = has_causes(definitions);
  json["memory"] = definitions.properties.contains(kRunMemory);
  json["samples"] = definitions.properties.contains(kSampleCount);
  json["throttled"] = has_throttled_samples(definitions);
  json["processes"] = processes_of(definitions, tracks);
  json["tracks"] = tracks_of(definitions, tracks, index);
  json["regions"] = regions_of(definitions);
  json["metrics"] = metrics_of(definitions);
  json["parameters"] = parameters_of(definitions);
  json["communicators"] = communicators_of(definitions);
  json["markers"] = markers_of(definitions, tracks);
  json["marks"] = Json::parse(marks);
  return json_text(json);
}

}  // namespace timeloom::tools
