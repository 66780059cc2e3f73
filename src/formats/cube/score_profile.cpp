#include "formats/cube/score_profile.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/regions/forked_region.hpp"
#include "formats/cube/profile_names.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::cube {

namespace {

using profile::ScoreProfile;

constexpr std::uint32_t kNoNode = UINT32_MAX;
constexpr char kDefinitionCount[] = "Score-P::DefinitionCounters::";
constexpr char kHits[] = "hits";

bool to_number(const std::string& text, std::uint64_t& number) {
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && last == end;
}

void add_definitions(const Cube& cube, ScoreProfile& profile) {
  profile.metrics = cube.metrics.size();
  const std::string* creator = find_attribute(cube.attributes, "Creator");
  profile.ours = creator != nullptr && creator->starts_with("Timeloom");
  for (const Attribute& one : cube.attributes) {
    std::uint64_t count = 0;
    if (one.key.starts_with(kDefinitionCount) && to_number(one.value, count)) {
      profile.definitions.emplace(one.key.substr(sizeof kDefinitionCount - 1), count);
    }
  }
}

void add_regions(const Cube& cube, ScoreProfile& profile) {
  for (const Region& from : cube.regions) {
    ScoreProfile::Region region{from.name, from.mangled_name, from.file, from.paradigm, {}, {}};
    std::uint64_t arguments = 0;
    const std::string* text = find_attribute(from.attributes, kArguments);
    if (text != nullptr && to_number(*text, arguments)) region.arguments = arguments;
    profile.regions.push_back(std::move(region));
  }
}

void add_call_paths(const Cube& cube, ScoreProfile& profile) {
  for (const Cnode& from : cube.cnodes) {
    ScoreProfile::CallPath path;
    path.region = from.region.value();
    path.parent = from.parent.defined() ? from.parent.value() : kNoNode;
    for (const CnodeParameter& one : from.parameters) ++(one.numeric ? path.numbers : path.texts);
    if (!from.parent.defined()) profile.regions[path.region].root = true;
    profile.call_paths.push_back(path);
  }
}

// The process that each location counts for; kNoNode: none. Work of a device counts for the process
// that uses it.
std::vector<std::uint32_t> add_processes(const Cube& cube, ScoreProfile& profile) {
  std::vector<std::uint32_t> process_of(cube.groups.size(), kNoNode);
  std::vector<std::size_t> locations(cube.groups.size());
  for (std::size_t i = 0; i < cube.groups.size(); ++i) {
    if (cube.groups[i].type != "process") continue;
    process_of[i] = static_cast<std::uint32_t>(profile.processes++);
  }
  for (std::size_t i = 0; i < cube.groups.size(); ++i) {
    const std::string* creator = find_attribute(cube.groups[i].attributes, kCreatingGroup);
    if (process_of[i] != kNoNode || creator == nullptr) continue;
    for (std::size_t j = 0; j < cube.groups.size(); ++j) {
      const Group& group = cube.groups[j];
      if (group.type == "process" && group.name == *creator) process_of[i] = process_of[j];
    }
  }
  std::vector<std::uint32_t> result;
  for (const Location& location : cube.locations) {
    result.push_back(process_of[location.group.value()]);
    ++locations[location.group.value()];
  }
  if (!locations.empty()) profile.most_locations = *std::ranges::max_element(locations);
  return result;
}

class ValueAdder {
 public:
  ValueAdder(const Reader& reader, ScoreProfile& profile)
      : reader_(reader),
        cube_(reader.cube()),
        profile_(profile),
        process_of_(add_processes(cube_, profile)) {
    profile.values.resize(cube_.cnodes.size() * profile.processes);
  }

  // Adds the exclusive values of the metric with `add(values, exact, number)`.
  template <typename Add>
  void add(const char* name, const Add& add) {
    const CubeMetricId id = find_metric(cube_, name);
    if (!id.defined() || !reader_.has_values(id)) {
      throw Error(std::string("it has no values of the metric '") + name + "'");
    }
    const Values values = reader_.values(id);
    const bool inclusive = cube_.metrics[id.value()].kind == MetricKind::kInclusive;
    for (std::uint32_t i = 0; i < cube_.cnodes.size(); ++i) {
      if (!values.has_row(CnodeId{i})) continue;
      const CnodeId parent = cube_.cnodes[i].parent;
      for (std::uint32_t j = 0; j < process_of_.size(); ++j) {
        if (process_of_[j] == kNoNode) continue;
        const std::byte* value = values.at(CnodeId{i}, CubeLocationId{j});
        add(at(CnodeId{i}, j), values.type(), value, false);
        // A call path's inclusive value is part of the inclusive value of the one above it.
        if (inclusive && parent.defined()) add(at(parent, j), values.type(), value, true);
      }
    }
  }

  // Regions that a trace enters and leaves although the program did not call them.
  void add_drawn() {
    const CubeMetricId id = find_metric(cube_, kTime);
    const Values values = reader_.values(id);
    for (std::uint32_t i = 0; i < cube_.cnodes.size(); ++i) {
      const Region& region = cube_.regions[cube_.cnodes[i].region.value()];
      if (!is_forked(region) || !values.has_row(CnodeId{i})) continue;
      for (std::uint32_t j = 0; j < process_of_.size(); ++j) {
        const std::byte* time = values.at(CnodeId{i}, CubeLocationId{j});
        if (process_of_[j] != kNoNode && to_double(values.type(), time) > 0) {
          ++at(CnodeId{i}, j).drawn;
        }
      }
    }
  }

 private:
  static bool is_forked(const Region& region) {
    return region.role == kArtificialRole && region.name.ends_with(kForked);
  }

  ScoreProfile::Values& at(CnodeId cnode, std::uint32_t location) {
    return profile_.values[cnode.value() * profile_.processes + process_of_[location]];
  }

  const Reader& reader_;
  const Cube& cube_;
  ScoreProfile& profile_;
  std::vector<std::uint32_t> process_of_;
};

template <std::uint64_t ScoreProfile::Values::*kMember>
void add_count(ScoreProfile::Values& to, ValueType type, const std::byte* value, bool subtract) {
  std::uint64_t count = 0;
  if (!to_count(type, value, count)) throw Error("it has a count that cannot be");
  if (profile::signed_value(count) < 0) {
    throw Error("it is the difference of two profiles; no trace has its size");
  }
  to.*kMember += subtract ? std::uint64_t{0} - count : count;
}

}  // namespace

ScoreProfile score_profile(const Reader& reader) {
  const Cube& cube = reader.cube();
  ScoreProfile profile;
  add_definitions(cube, profile);
  add_regions(cube, profile);
  add_call_paths(cube, profile);
  ValueAdder adder(reader, profile);
  adder.add(kVisits, add_count<&ScoreProfile::Values::visits>);
  adder.add(kTime,
            [](ScoreProfile::Values& to, ValueType type, const std::byte* value, bool subtract) {
              const double time = to_double(type, value);
              to.time += subtract ? -time : time;
            });
  if (profile.ours) adder.add_drawn();
  const CubeMetricId hits = find_metric(cube, kHits);
  profile.sampled = hits.defined();
  if (hits.defined() && reader.has_values(hits)) {
    adder.add(kHits, add_count<&ScoreProfile::Values::hits>);
  }
  return profile;
}

}  // namespace timeloom::cube
