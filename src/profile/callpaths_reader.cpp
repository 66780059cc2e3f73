// Reads callpaths.json. Nothing in the file is trusted: what loads is a tree
// that a fold could have made.

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "core/error.hpp"
#include "profile/callpaths_file.hpp"
#include "profile/callpaths_names.hpp"

namespace timeloom::profile {

namespace {

using nlohmann::json;

// What is wrong with the file; becomes the Error that names it.
struct Damage {
  std::string what;
};

const json& member(const json& object, const char* key) {
  if (!object.is_object()) throw Damage{std::string("no object holds '") + key + "'"};
  const auto found = object.find(key);
  if (found == object.end()) throw Damage{std::string("'") + key + "' is missing"};
  return *found;
}

template <typename Number>
Number to_number(const json& value, const char* key) {
  if (!value.is_number_unsigned() ||
      value.get<std::uint64_t>() > std::numeric_limits<Number>::max()) {
    throw Damage{std::string("'") + key + "' is no number in its range"};
  }
  return value.get<Number>();
}

template <typename Number>
Number number(const json& object, const char* key) {
  return to_number<Number>(member(object, key), key);
}

std::string to_text(const json& value, const char* key) {
  if (!value.is_string()) throw Damage{std::string("'") + key + "' is no string"};
  return value.get<std::string>();
}

std::string text(const json& object, const char* key) { return to_text(member(object, key), key); }

const json& array(const json& object, const char* key) {
  const json& value = member(object, key);
  if (!value.is_array()) throw Damage{std::string("'") + key + "' is no list"};
  return value;
}

template <typename Enum, typename Names>
Enum name_of(const json& object, const char* key, const Names& names) {
  const auto found = std::find(names.begin(), names.end(), text(object, key));
  if (found == names.end()) throw Damage{std::string("'") + key + "' has an unknown value"};
  return static_cast<Enum>(found - names.begin());
}

// An index into a list of `size`, or undefined where the file says null.
template <typename AnyId>
AnyId id_or_null(const json& value, std::size_t size, const char* key) {
  if (value.is_null()) return {};
  const auto id = to_number<typename AnyId::rep>(value, key);
  if (id >= size) throw Damage{std::string("'") + key + "' refers to nothing"};
  return AnyId{id};
}

void read_head(const json& file) {
  if (text(file, "format") != kCallpathsFormat) throw Damage{"it is another format"};
  const auto version = number<std::uint32_t>(file, "version");
  if (version != kCallpathsVersion) {
    throw Damage{"its version is " + std::to_string(version) + ", this program reads version " +
                 std::to_string(kCallpathsVersion)};
  }
}

ClockProperties read_clock(const json& object) {
  ClockProperties clock;
  clock.ticks_per_second = number<std::uint64_t>(object, "ticks_per_second");
  if (clock.ticks_per_second == 0) throw Damage{"the clock does not tick"};
  clock.begin = number<std::uint64_t>(object, "begin");
  clock.length = number<std::uint64_t>(object, "length");
  const json& realtime = member(object, "realtime");
  if (!realtime.is_null()) clock.realtime = to_number<std::uint64_t>(realtime, "realtime");
  return clock;
}

LocationGroup read_group(const json& object, std::size_t groups) {
  LocationGroup group;
  group.name = text(object, "name");
  group.hostname = text(object, "hostname");
  group.process_id = number<std::uint64_t>(object, "process_id");
  group.executable = text(object, "executable");
  for (const json& one : array(object, "arguments")) {
    group.arguments.push_back(to_text(one, "arguments"));
  }
  group.creator = id_or_null<LocationGroupId>(member(object, "creator"), groups, "creator");
  group.ending = text(object, "ending");
  return group;
}

Region read_region(const json& object) {
  Region region;
  region.name = text(object, "name");
  region.canonical_name = text(object, "canonical_name");
  region.file = text(object, "file");
  region.group = text(object, "group");
  region.first_line = number<std::uint32_t>(object, "first_line");
  region.last_line = number<std::uint32_t>(object, "last_line");
  region.paradigm = name_of<Paradigm>(object, "paradigm", kParadigmNames);
  region.role = name_of<RegionRole>(object, "role", kRegionRoleNames);
  return region;
}

Location read_location(const json& object, std::size_t groups) {
  Location location;
  location.id = LocationId{number<std::uint64_t>(object, "id")};
  location.name = text(object, "name");
  location.group = id_or_null<LocationGroupId>(member(object, "group"), groups, "group");
  location.type = name_of<LocationType>(object, "type", kLocationTypeNames);
  location.thread_id = number<std::uint64_t>(object, "thread_id");
  location.event_count = number<std::uint64_t>(object, "events");
  return location;
}

Metric read_metric(const json& object) {
  Metric metric{text(object, "name"), text(object, "unit"), text(object, "description"),
                name_of<MetricValueType>(object, "type", kMetricTypeNames)};
  if (object.contains("set")) {
    metric.set = text(object, "set");
    metric.mode = name_of<MetricMode>(object, "mode", kMetricModeNames);
  }
  return metric;
}

ParameterSet read_parameter_set(const json& list) {
  if (!list.is_array() || list.empty()) throw Damage{"'parameter_sets' holds no list of values"};
  ParameterSet set;
  for (const json& one : list) {
    const json& numeric = member(one, "numeric");
    if (!numeric.is_boolean()) throw Damage{"'numeric' is neither true nor false"};
    set.push_back({text(one, "name"), text(one, "value"), numeric.get<bool>()});
  }
  return set;
}

Definitions read_definitions(const json& file) {
  Definitions all;
  all.creator = text(file, "creator");
  all.machine_name = text(file, "machine");
  all.clock = read_clock(member(file, "clock"));
  const json& properties = member(file, "properties");
  if (!properties.is_object()) throw Damage{"'properties' is no object"};
  for (const auto& [name, value] : properties.items()) {
    all.properties[name] = to_text(value, "properties");
  }
  const json& groups = array(file, "groups");
  for (const json& group : groups) all.groups.push_back(read_group(group, groups.size()));
  for (const json& region : array(file, "regions")) all.regions.push_back(read_region(region));
  for (const json& metric : array(file, "metrics")) all.metrics.push_back(read_metric(metric));
  for (const json& one : array(file, "locations")) {
    all.locations.push_back(read_location(one, all.groups.size()));
    const auto& locations = all.locations;
    if (locations.size() > 1 && locations[locations.size() - 2].id >= locations.back().id) {
      throw Damage{"its locations are not in order"};
    }
  }
  return all;
}

// In pre-order the parent of a node is the node before it or one of its ancestors.
std::uint32_t depth_of(const std::vector<Node>& nodes, NodeId parent) {
  if (!parent.defined()) return 0;
  NodeId ancestor{static_cast<std::uint32_t>(nodes.size() - 1)};
  while (ancestor.defined() && ancestor > parent) ancestor = nodes[ancestor.value()].parent;
  if (ancestor != parent) throw Damage{"its call paths are not in order"};
  return nodes[parent.value()].depth + 1;
}

struct NodeHash {
  std::size_t operator()(const Node& node) const noexcept {
    const std::size_t pair = std::size_t{node.parent.value()} << 32 | node.region.value();
    return (pair ^ std::size_t{node.parameters.value()} << 16) * 0x9e3779b97f4a7c15u;
  }
};

std::vector<Node> read_nodes(const json& object, std::size_t regions, std::size_t sets) {
  static const json kNone;
  const json& parents = array(object, "parent");
  const json& region_ids = array(object, "region");
  if (parents.size() != number<std::uint32_t>(object, "count") ||
      parents.size() != region_ids.size()) {
    throw Damage{"its call paths are not complete"};
  }
  const json& parameters = sets == 0 ? kNone : array(object, "parameters");
  if (sets != 0 && parameters.size() != parents.size()) {
    throw Damage{"its call paths are not complete"};
  }
  std::vector<Node> nodes;
  std::unordered_set<Node, NodeHash> seen;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    Node node;
    node.parent = id_or_null<NodeId>(parents[i], i, "parent");
    node.region = id_or_null<RegionId>(region_ids[i], regions, "region");
    if (sets != 0) node.parameters = id_or_null<ParameterSetId>(parameters[i], sets, "parameters");
    node.depth = depth_of(nodes, node.parent);
    if (!seen.insert(node).second) throw Damage{"it has a call path twice"};
    nodes.push_back(node);
  }
  return nodes;
}

void check_statistics(const Statistics& one, const Node& node, bool parameters) {
  bool sound = one.visits == 0 ? one.inclusive != 0 && one.min == UINT64_MAX && one.max == 0
                               : one.min <= one.max;
  // Beyond a limit the time is that of some of the visits only.
  if (one.visits != 0 && node.region.defined()) {
    const std::uint64_t mean = one.inclusive / one.visits;
    const bool exact = one.inclusive % one.visits == 0;
    // Visits that were given a parameter late have left some of their time there.
    const bool too_long = !parameters && (mean > one.max || (mean == one.max && !exact));
    sound = sound && mean >= one.min && !too_long;
  }
  if (!sound) throw Damage{"a call path has impossible numbers"};
}

// The children of a call path take no longer than it does, and the roots no
// longer than their location lasts: exclusive times are never negative.
void check_times(const LocationProfile& profile, const std::vector<Node>& nodes) {
  std::uint64_t left_at_root = ticks(profile.last) - ticks(profile.first);
  std::vector<std::uint64_t> left(profile.cells.size());
  // The open cells from a root to the current one, as indices of `cells`.
  std::vector<std::size_t> path;
  for (std::size_t i = 0; i < profile.cells.size(); ++i) {
    const Cell& cell = profile.cells[i];
    const NodeId parent = nodes[cell.node.value()].parent;
    while (!path.empty() && profile.cells[path.back()].node != parent) path.pop_back();
    if (path.empty() && parent.defined())
      throw Damage{"a call path was visited but not its caller"};
    std::uint64_t& available = path.empty() ? left_at_root : left[path.back()];
    if (cell.statistics.inclusive > available)
      throw Damage{"the times of call paths do not add up"};
    available -= cell.statistics.inclusive;
    left[i] = cell.statistics.inclusive;
    path.push_back(i);
  }
}

double to_real(const json& value) {
  if (value.is_number()) return value.get<double>();
  for (const double one :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    if (value == (std::isnan(one) ? "nan" : one > 0 ? "inf" : "-inf")) return one;
  }
  if (value == "-nan") return std::numeric_limits<double>::quiet_NaN();
  throw Damage{"a counter has a value that is no number"};
}

std::vector<MetricCell> read_metric_values(const json& object, const CallTree& tree) {
  std::vector<MetricCell> cells;
  if (!object.contains("metrics")) return cells;
  const json& columns = object["metrics"];
  const auto count = number<std::uint32_t>(columns, "count");
  for (const char* key : {"metric", "node", "values", "sum", "min", "max", "squares"}) {
    if (array(columns, key).size() != count) throw Damage{"the counters are not complete"};
  }
  for (std::size_t i = 0; i < count; ++i) {
    MetricCell cell;
    cell.metric =
        id_or_null<MetricId>(columns["metric"][i], tree.definitions.metrics.size(), "metric");
    cell.node = id_or_null<NodeId>(columns["node"][i], tree.nodes.size(), "node");
    cell.statistics = {to_number<std::uint64_t>(columns["values"][i], "values"),
                       to_real(columns["sum"][i]), to_real(columns["min"][i]),
                       to_real(columns["max"][i]), to_real(columns["squares"][i])};
    const bool in_order = cells.empty() || std::pair(cells.back().metric, cells.back().node) <
                                               std::pair(cell.metric, cell.node);
    if (!cell.metric.defined() || !cell.node.defined() || !in_order || cell.statistics.count == 0) {
      throw Damage{"the counters are not in order"};
    }
    cells.push_back(cell);
  }
  return cells;
}

std::vector<SampleCell> read_samples(const json& object, const CallTree& tree) {
  std::vector<SampleCell> cells;
  if (!object.contains("samples")) return cells;
  const json& columns = object["samples"];
  const auto count = number<std::uint32_t>(columns, "count");
  for (const char* key : {"metric", "node", "value"}) {
    if (array(columns, key).size() != count) throw Damage{"the metrics are not complete"};
  }
  const auto& metrics = tree.definitions.metrics;
  for (std::size_t i = 0; i < count; ++i) {
    const SampleCell cell{id_or_null<MetricId>(columns["metric"][i], metrics.size(), "metric"),
                          id_or_null<NodeId>(columns["node"][i], tree.nodes.size(), "node"),
                          to_number<std::uint64_t>(columns["value"][i], "value")};
    const bool in_order = cells.empty() || std::pair(cells.back().metric, cells.back().node) <
                                               std::pair(cell.metric, cell.node);
    if (!cell.metric.defined() || !metrics[cell.metric.value()].sampled() || !in_order ||
        cell.value == 0) {
      throw Damage{"the metrics are not in order"};
    }
    cells.push_back(cell);
  }
  return cells;
}

LocationProfile read_profile(const json& object, const CallTree& tree) {
  const std::vector<Node>& nodes = tree.nodes;
  LocationProfile profile;
  profile.first = Timestamp{number<std::uint64_t>(object, "first")};
  profile.last = Timestamp{number<std::uint64_t>(object, "last")};
  if (profile.first > profile.last) throw Damage{"a location ends before it begins"};
  const json& ids = array(object, "node");
  const char* const keys[] = {"visits", "inclusive", "min", "max"};
  for (const char* key : keys) {
    if (array(object, key).size() != ids.size()) throw Damage{"a location is not complete"};
  }
  profile.cells.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Cell cell;
    cell.node = id_or_null<NodeId>(ids[i], nodes.size(), "node");
    const bool in_order = profile.cells.empty() || profile.cells.back().node < cell.node;
    if (!cell.node.defined() || !in_order)
      throw Damage{"the call paths of a location are not in order"};
    cell.statistics.visits = to_number<std::uint64_t>(object["visits"][i], "visits");
    cell.statistics.inclusive = to_number<std::uint64_t>(object["inclusive"][i], "inclusive");
    cell.statistics.min = to_number<std::uint64_t>(object["min"][i], "min");
    cell.statistics.max = to_number<std::uint64_t>(object["max"][i], "max");
    check_statistics(cell.statistics, nodes[cell.node.value()], !tree.parameter_sets.empty());
    profile.cells.push_back(cell);
  }
  check_times(profile, nodes);
  profile.metrics = read_metric_values(object, tree);
  profile.samples = read_samples(object, tree);
  return profile;
}

std::string read_file(const std::filesystem::path& file) {
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.c_str(), "rb"));
  std::string text;
  std::size_t used = 0;
  for (std::size_t got = 1; stream && got > 0; used += got) {
    if (used == text.size()) text.resize(std::max<std::size_t>(2 * used, 1 << 16));
    got = std::fread(text.data() + used, 1, text.size() - used, stream.get());
  }
  if (!stream || std::ferror(stream.get())) {
    throw Error("cannot read " + file.string() + ": " + std::strerror(errno));
  }
  text.resize(used);
  return text;
}

}  // namespace

CallTree from_json(std::string_view contents, const std::string& name) {
  const std::string advice = "; delete it, and the trace beside it is read instead";
  try {
    const json file = json::parse(contents);
    read_head(file);
    CallTree tree;
    tree.definitions = read_definitions(file);
    for (const json& set : array(file, "parameter_sets")) {
      tree.parameter_sets.push_back(read_parameter_set(set));
    }
    tree.nodes = read_nodes(member(file, "nodes"), tree.definitions.regions.size(),
                            tree.parameter_sets.size());
    for (const json& location : array(file, "locations")) {
      tree.locations.push_back(read_profile(location, tree));
    }
    return tree;
  } catch (const json::parse_error& error) {
    throw Error(name + " is damaged or cut off at byte " + std::to_string(error.byte) + advice);
  } catch (const json::exception&) {  // a number that no type holds, nesting beyond reason
    throw Error(name + " is damaged" + advice);
  } catch (const Damage& damage) {
    throw Error(name + " is damaged: " + damage.what + advice);
  }
}

CallTree load(const std::filesystem::path& file) {
  return from_json(read_file(file), file.string());
}

}  // namespace timeloom::profile
