// Reads the run of a CUBE profile as Timeloom's definitions.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "core/metric_unit.hpp"
#include "formats/cube/cube_profile.hpp"
#include "formats/cube/profile_names.hpp"
#include "formats/cube/profile_regions.hpp"

namespace timeloom::cube {

namespace {

std::optional<std::uint64_t> number_in(const Attributes& attributes, std::string_view key) {
  const std::string* text = find_attribute(attributes, key);
  if (text == nullptr) return {};
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return {};
  return number;
}

std::string text_in(const Attributes& attributes, std::string_view key) {
  const std::string* text = find_attribute(attributes, key);
  return text == nullptr ? std::string() : *text;
}

std::string without_prefix(const std::string& text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

void add_clock(const Cube& cube, ClockProperties& clock) {
  clock.ticks_per_second =
      number_in(cube.attributes, kTicksPerSecond).value_or(clock.ticks_per_second);
  if (clock.ticks_per_second == 0) clock.ticks_per_second = 1;
  clock.begin = number_in(cube.attributes, kBegin).value_or(0);
  clock.length = number_in(cube.attributes, kLength).value_or(0);
  clock.realtime = number_in(cube.attributes, kRealtime);
}

std::uint32_t line_of(std::int64_t line) {
  return line > 0 && line <= INT32_MAX ? static_cast<std::uint32_t>(line) : 0;
}

timeloom::Region region_of(const Region& from) {
  timeloom::Region region;
  region.name = from.name;
  region.canonical_name = from.mangled_name.empty() ? from.name : from.mangled_name;
  region.file = from.file;
  region.first_line = line_of(from.begin);
  region.last_line = line_of(from.end);
  const std::size_t colon = from.paradigm.find(':');
  region.paradigm =
      value_in(kParadigms, std::string_view(from.paradigm).substr(0, colon), Paradigm::kOther);
  if (colon != std::string::npos) {
    region.group = from.paradigm.substr(colon + 1);
  } else {
    region.group = usual_group(region.paradigm, from.file);
  }
  region.role = value_in(kRoles, from.role, RegionRole::kOther);
  return region;
}

// The innermost host above the process.
std::string host_of(const Cube& cube, SystemNodeId id) {
  for (; id.defined(); id = cube.system_nodes[id.value()].parent) {
    const SystemNode& node = cube.system_nodes[id.value()];
    if (node.kind == "node") return node.name == "node" ? "" : without_prefix(node.name, "node ");
  }
  return {};
}

// Timeloom's own name of a process or a thread; CUBE's tools see another one.
template <typename Place>
const std::string& name_of(const Place& place) {
  const std::string* name = find_attribute(place.attributes, kName);
  return name == nullptr ? place.name : *name;
}

// The place of each group of a cube in the definitions.
struct GroupPlaces {
  std::vector<LocationGroupId> processes;  // of a context: the process that has made it
  std::vector<ContextId> contexts;         // undefined: it is not a context
};

// Contexts whose process is not known are processes.
GroupPlaces places_of(const Cube& cube) {
  GroupPlaces places{std::vector<LocationGroupId>(cube.groups.size()),
                     std::vector<ContextId>(cube.groups.size())};
  std::map<std::string_view, std::uint32_t> processes;
  for (std::uint32_t i = 0; i < cube.groups.size(); ++i) {
    if (cube.groups[i].type != kAccelerator) processes.try_emplace(cube.groups[i].name, i);
  }
  std::uint32_t process = 0, context = 0;
  std::vector<std::uint32_t> creators(cube.groups.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < cube.groups.size(); ++i) {
    const std::string* name = find_attribute(cube.groups[i].attributes, kCreatingGroup);
    const bool accelerator = cube.groups[i].type == kAccelerator && name != nullptr;
    const auto creator = accelerator ? processes.find(*name) : processes.end();
    if (creator == processes.end()) {
      places.processes[i] = LocationGroupId{process++};
    } else {
      places.contexts[i] = ContextId{context++};
      creators[i] = creator->second;
    }
  }
  for (std::uint32_t i = 0; i < cube.groups.size(); ++i) {
    if (creators[i] != UINT32_MAX) places.processes[i] = places.processes[creators[i]];
  }
  return places;
}

AcceleratorContext context_of(const Cube& cube, const Group& from, LocationGroupId process) {
  const SystemNode& device = cube.system_nodes[from.node.value()];
  return {from.name, without_prefix(device.name, std::string(kDeviceClass) + ' '), process};
}

LocationGroup process_of(const Cube& cube, const Group& from, const GroupPlaces& places) {
  LocationGroup process;
  process.name = name_of(from);
  process.hostname = host_of(cube, from.node);
  process.process_id = number_in(from.attributes, kProcessId).value_or(0);
  process.executable = text_in(from.attributes, kExecutable);
  process.ending = text_in(from.attributes, kEnding);
  for (const Attribute& one : from.attributes) {
    if (one.key.starts_with(kArgument)) process.arguments.push_back(one.value);
  }
  if (const auto rank = number_in(from.attributes, kCreator)) {
    for (std::uint32_t i = 0; i < cube.groups.size(); ++i) {
      const bool is_process = !places.contexts[i].defined();
      if (is_process && cube.groups[i].rank == *rank) process.creator = places.processes[i];
    }
  }
  return process;
}

// A profile of Score-P contains only the command line of the program, as one text.
void add_program(const Cube& cube, Definitions& definitions) {
  if (definitions.groups.empty() || !definitions.groups.front().executable.empty()) return;
  const Region& root = cube.regions[cube.cnodes.front().region.value()];
  if (find_attribute(root.attributes, kArguments) == nullptr) return;
  LocationGroup& process = definitions.groups.front();
  std::string_view line = root.mangled_name;
  for (bool first = true; !line.empty(); first = false) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (first) {
      process.executable = line.substr(0, end);
    } else if (end > 0) {
      process.arguments.emplace_back(line.substr(0, end));
    }
    line.remove_prefix(std::min(end + 1, line.size()));
  }
}

std::uint64_t location_id(const Cube& cube, std::uint32_t index) {
  const Location& from = cube.locations[index];
  return number_in(from.attributes, kLocation).value_or(index);
}

timeloom::Location location_of(const Cube& cube, std::uint32_t index, const GroupPlaces& places) {
  const Location& from = cube.locations[index];
  timeloom::Location location;
  location.id = timeloom::LocationId{location_id(cube, index)};
  location.name = name_of(from);
  location.group = places.processes[from.group.value()];
  location.context = places.contexts[from.group.value()];
  location.type = value_in(kLocationTypes, from.type, LocationType::kUnknown);
  location.thread_id = number_in(from.attributes, kThreadId).value_or(0);
  location.event_count = number_in(from.attributes, kEvents).value_or(0);
  if (const auto feeder = number_in(from.attributes, kFeeder)) {
    location.feeder = timeloom::LocationId{*feeder};
  }
  return location;
}

// The ids that a trace would have, if they are valid; otherwise the columns.
void add_locations(const Cube& cube, const GroupPlaces& places, Definitions& definitions) {
  for (std::uint32_t i = 0; i < cube.locations.size(); ++i) {
    definitions.locations.push_back(location_of(cube, i, places));
  }
  for (std::size_t i = 1; i < definitions.locations.size(); ++i) {
    if (definitions.locations[i - 1].id < definitions.locations[i].id) continue;
    for (std::size_t j = 0; j < definitions.locations.size(); ++j) {
      definitions.locations[j].id = timeloom::LocationId{j};
    }
    return;
  }
}

// Sampled metrics are those written by Timeloom, and from any tool sums of counts between enter and
// leave.
timeloom::Metric metric_of(const Metric& from) {
  timeloom::Metric metric{from.name, {}, from.description};
  if (is_seconds_of_samples(from)) return sampled_time_metric();
  set_unit(metric, from.unit);
  const bool counted = from.kind == MetricKind::kInclusive && from.type.type == DataType::kUint64;
  const std::string set = text_in(from.attributes, kSet);
  if (!counted && (set.empty() || from.type.type != DataType::kMaxDouble)) return metric;
  metric.type = MetricValueType::kUint64;
  metric.mode = counted ? MetricMode::kAccumulatedStart : MetricMode::kAbsoluteNext;
  metric.set = set.empty() ? "thread:" : set;
  return metric;
}

}  // namespace

std::uint64_t trace_id_of(const Reader& reader) noexcept {
  return number_in(reader.cube().attributes, kTraceId).value_or(0);
}

Definitions definitions_of(const Reader& reader) {
  const Cube& cube = reader.cube();
  Definitions definitions;
  add_clock(cube, definitions.clock);
  definitions.creator = text_in(cube.attributes, "Creator");
  if (!cube.system_nodes.empty()) {
    definitions.machine_name = without_prefix(cube.system_nodes.front().name, "machine ");
  }
  const std::vector<RegionId> ids = region_ids(cube);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].defined()) definitions.regions.push_back(region_of(cube.regions[i]));
  }
  const GroupPlaces places = places_of(cube);
  for (std::size_t i = 0; i < cube.groups.size(); ++i) {
    const Group& group = cube.groups[i];
    if (places.contexts[i].defined()) {
      definitions.contexts.push_back(context_of(cube, group, places.processes[i]));
    } else {
      definitions.groups.push_back(process_of(cube, group, places));
    }
  }
  add_program(cube, definitions);
  add_locations(cube, places, definitions);
  for (const Metric& metric : cube.metrics) {
    if (!is_core_name(metric.unique_name)) definitions.metrics.push_back(metric_of(metric));
  }
  for (const Attribute& one : cube.attributes) {
    if (one.key.starts_with(kProperty)) {
      definitions.properties.emplace(one.key.substr(std::string_view(kProperty).size()), one.value);
    }
  }
  return definitions;
}

}  // namespace timeloom::cube
