// The second half of RawDefinitions: references become indices in Definitions.

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/error.hpp"
#include "core/memory/memory_attributes.hpp"
#include "core/mpi/communicator_groups.hpp"
#include "core/waiting_metric.hpp"
#include "formats/otf2/enumerations.hpp"
#include "formats/otf2/location_writer.hpp"
#include "formats/otf2/read/raw_definitions.hpp"

namespace timeloom::otf2 {

namespace {

constexpr std::int64_t kMostExponent = 1000;  // a file may contain any; units are far smaller

class Resolver {
 public:
  Resolver(const RawDefinitions& raw, Definitions& definitions, References& references,
           const std::string& what)
      : raw_(raw), definitions_(definitions), references_(references), what_(what) {}

  void resolve() {
    if (!raw_.has_clock || raw_.clock.ticks_per_second == 0) damaged("it has no clock");
    definitions_.clock = raw_.clock;
    strings();
    regions();
    groups();
    locations();
    metrics();
    parameters();
    communicators();
    teams();
    io();
    for (const RawDefinitions::Attribute& attribute : raw_.attributes) {
      if (text(attribute.name) == "ProcessId") references_.process_id = attribute.self;
      if (text(attribute.name) == kOffsetName) references_.offset = attribute.self;
      for (std::size_t i = 0; i < kMemoryAttributes; ++i) {
        if (text(attribute.name) != kMemoryAttributeTexts[i].name) continue;
        references_.memory[i] = attribute.self;
        references_.has_memory = true;
      }
      if (text(attribute.name) == kWaitingName) references_.waiting = attribute.self;
      add_cause(attribute);
    }
    if (references_.waiting != OTF2_UNDEFINED_ATTRIBUTE) {
      definitions_.metrics.push_back(waiting_metric());
      for (std::uint32_t i = 1; references_.has_causes && i < kWaitingCauses; ++i) {
        definitions_.metrics.push_back(cause_metric(WaitingCause{i}));
      }
    }
  }

 private:
  [[noreturn]] void damaged(const std::string& how) const {
    throw Error(what_ + ": " + how + "; the trace is damaged, copy it again [TL318]");
  }

  void add_cause(const RawDefinitions::Attribute& attribute) {
    for (std::size_t i = 1; i < kWaitingCauses; ++i) {
      if (text(attribute.name) != cause_attribute_name(i)) continue;
      references_.causes[i] = attribute.self;
      references_.has_causes = true;
    }
  }

  std::string text(OTF2_StringRef reference) const {
    const std::uint32_t index = references_.strings.find(reference);
    return index == kNoIndex ? std::string() : definitions_.strings[index];
  }

  static std::uint32_t size_of(const auto& vector) {
    return static_cast<std::uint32_t>(vector.size());
  }

  void strings() {
    for (const RawDefinitions::Text& raw : raw_.strings) {
      if (references_.strings.add(raw.self, size_of(definitions_.strings))) {
        definitions_.strings.push_back(raw.text);
      }
    }
  }

  void regions() {
    for (const RawDefinitions::Code& raw : raw_.regions) {
      if (!references_.regions.add(raw.self, size_of(definitions_.regions))) continue;
      Region region;
      region.name = text(raw.name);
      region.canonical_name = text(raw.canonical_name);
      region.file = text(raw.file);
      region.first_line = raw.first_line;
      region.last_line = raw.last_line;
      region.paradigm = paradigm_of(raw.paradigm);
      region.role = role_of(raw.role);
      const bool file =
          region.role == RegionRole::kFileIo || region.role == RegionRole::kFileIoMetadata;
      if (file && raw.paradigm == OTF2_PARADIGM_NONE) region.paradigm = Paradigm::kIo;
      if (allocates(region.role) && raw.paradigm == OTF2_PARADIGM_NONE) {
        region.paradigm = Paradigm::kMemory;
      }
      definitions_.regions.push_back(std::move(region));
    }
    for (const RawDefinitions::RegionGroup& raw : raw_.region_groups) name_group(raw);
  }

  static bool allocates(RegionRole role) {
    return role == RegionRole::kAllocate || role == RegionRole::kDeallocate ||
           role == RegionRole::kReallocate;
  }

  void name_group(const RawDefinitions::RegionGroup& raw) {
    const std::string name = text(raw.name);
    for (const std::uint64_t member : raw.members) {
      if (member >= OTF2_UNDEFINED_REGION) continue;
      const std::uint32_t index = references_.regions.find(static_cast<std::uint32_t>(member));
      if (index != kNoIndex && definitions_.regions[index].group.empty()) {
        definitions_.regions[index].group = name;
      }
    }
  }

  // The host is the nearest node of class "node", else the nearest of all.
  std::string host_of(OTF2_SystemTreeNodeRef parent) const {
    constexpr int kDeepest = 64;  // a damaged tree may have loops
    const auto first = raw_.nodes.find(parent);
    for (int depth = 0; depth < kDeepest; ++depth) {
      const auto node = raw_.nodes.find(parent);
      if (node == raw_.nodes.end()) break;
      if (text(node->second.class_name) == "node") return text(node->second.name);
      parent = node->second.parent;
    }
    return first == raw_.nodes.end() ? std::string() : text(first->second.name);
  }

  void add_group(const RawDefinitions::Group& raw) {
    if (!references_.groups.add(raw.self, size_of(definitions_.groups))) return;
    LocationGroup group;
    group.name = text(raw.name);
    group.hostname = host_of(raw.parent);
    definitions_.groups.push_back(std::move(group));
  }

  // A context of an accelerator whose process is not known is a process itself.
  void add_context(const RawDefinitions::Group& raw) {
    const LocationGroupId process{references_.groups.find(raw.creator)};
    if (!process.defined()) return add_group(raw);
    if (!references_.contexts.add(raw.self, size_of(definitions_.contexts))) return;
    const auto device = raw_.nodes.find(raw.parent);
    definitions_.contexts.push_back(
        {text(raw.name), device == raw_.nodes.end() ? "" : text(device->second.name), process});
  }

  static bool is_accelerator(const RawDefinitions::Group& raw) {
    return raw.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
  }

  void groups() {
    for (const RawDefinitions::Group& raw : raw_.groups) {
      if (!is_accelerator(raw)) add_group(raw);
    }
    for (const RawDefinitions::Group& raw : raw_.groups) {
      if (is_accelerator(raw)) add_context(raw);
    }
    for (const RawDefinitions::Group& raw : raw_.groups) {
      const std::uint32_t self = references_.groups.find(raw.self);
      const std::uint32_t creator = references_.groups.find(raw.creator);
      if (self == kNoIndex || creator == kNoIndex) continue;
      definitions_.groups[self].creator = LocationGroupId{creator};
    }
    group_properties();
    name_machine();
  }

  void group_properties() {
    for (const RawDefinitions::Property& property : raw_.group_properties) {
      const std::uint32_t index =
          references_.groups.find(static_cast<std::uint32_t>(property.owner));
      if (index == kNoIndex) continue;
      LocationGroup& group = definitions_.groups[index];
      if (text(property.name) == "ProcessId") group.process_id = number(property);
      if (text(property.name) == kEndingProperty && property.type == OTF2_TYPE_STRING) {
        group.ending = text(property.value.stringRef);
      }
      take_name(property, group);
    }
  }

  // Other tools see the alias.
  template <typename Place>
  void take_name(const RawDefinitions::Property& property, Place& place) const {
    if (text(property.name) != kNameProperty || property.type != OTF2_TYPE_STRING) return;
    place.alias = std::exchange(place.name, text(property.value.stringRef));
  }

  void name_machine() {
    if (!definitions_.machine_name.empty()) return;
    for (const auto& [self, node] : raw_.nodes) {
      if (text(node.class_name) == "machine") definitions_.machine_name = text(node.name);
    }
  }

  // The value of an id, which some tools write as text and some as a number; 0: unknown.
  std::uint64_t number(const RawDefinitions::Property& property) const {
    if (property.type == OTF2_TYPE_UINT64) return property.value.uint64;
    if (property.type != OTF2_TYPE_STRING) return 0;
    const std::string digits = text(property.value.stringRef);
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }

  void locations() {
    for (const RawDefinitions::Thread& raw : raw_.locations) {
      Location location;
      location.id = LocationId{raw.self};
      location.name = text(raw.name);
      location.type = location_type_of(raw.type);
      location.event_count = raw.events;
      const std::uint32_t context = references_.contexts.find(raw.group);
      if (context != kNoIndex) location.context = ContextId{context};
      const std::uint32_t group = context == kNoIndex
                                      ? references_.groups.find(raw.group)
                                      : definitions_.contexts[context].process.value();
      if (!location.id.defined()) damaged("a location has no id");
      if (group == kNoIndex) damaged("location '" + location.name + "' belongs to no process");
      location.group = LocationGroupId{group};
      definitions_.locations.push_back(std::move(location));
    }
    auto& all = definitions_.locations;
    std::sort(all.begin(), all.end(),
              [](const Location& a, const Location& b) { return a.id < b.id; });
    const auto twice = std::adjacent_find(
        all.begin(), all.end(), [](const Location& a, const Location& b) { return a.id == b.id; });
    if (twice != all.end()) damaged("location '" + twice->name + "' is defined twice");
    location_properties();
  }

  void location_properties() {
    auto& all = definitions_.locations;
    for (const RawDefinitions::Property& property : raw_.location_properties) {
      const LocationId id{property.owner};
      const auto found = std::lower_bound(all.begin(), all.end(), id,
                                          [](const Location& a, LocationId b) { return a.id < b; });
      if (found == all.end() || found->id != id) continue;
      if (text(property.name) == "ThreadId") found->thread_id = number(property);
      if (text(property.name) == kFeederProperty) found->feeder = LocationId{number(property)};
      take_name(property, *found);
    }
  }

  void metrics() {
    ReferenceTable members;
    for (const RawDefinitions::Member& raw : raw_.members) {
      if (!members.add(raw.self, size_of(definitions_.metrics))) continue;
      Metric metric;
      metric.name = text(raw.name);
      metric.description = text(raw.description);
      metric.unit = text(raw.unit);
      metric.binary = raw.base == OTF2_BASE_BINARY;
      metric.exponent = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(raw.exponent, -kMostExponent, kMostExponent));
      metric.type = metric_type_of(raw.type);
      const auto mode = metric_mode_of(raw.mode);
      metric.mode = mode.value_or(MetricMode::kAbsolutePoint);
      can_be_sampled_.push_back(mode.has_value() && metric.type == MetricValueType::kUint64);
      definitions_.metrics.push_back(std::move(metric));
    }
    for (const RawDefinitions::MetricClass& raw : raw_.metric_classes) {
      std::vector<std::uint32_t>& indices = references_.metrics[raw.self];
      for (const OTF2_MetricMemberRef member : raw.members) {
        indices.push_back(members.find(member));
      }
      if (raw.occurrence == OTF2_METRIC_SYNCHRONOUS_STRICT) name_set(indices, "thread:", raw.self);
    }
    for (const RawDefinitions::MetricInstance& raw : raw_.metric_instances) {
      const auto metric_class = references_.metrics.find(raw.metric_class);
      if (metric_class == references_.metrics.end()) continue;
      const std::vector<std::uint32_t> indices = metric_class->second;
      const bool strict = !indices.empty() && indices.front() != kNoIndex &&
                          definitions_.metrics[indices.front()].sampled();
      if (strict && raw.scope == OTF2_SCOPE_LOCATION_GROUP)
        name_set(indices, "process:", raw.metric_class);
      references_.metrics.try_emplace(raw.self, indices);
    }
  }

  // Names the set of the metrics in it that can have values at every enter and leave.
  void name_set(const std::vector<std::uint32_t>& indices, const char* whose, OTF2_MetricRef self) {
    for (const std::uint32_t index : indices) {
      if (index == kNoIndex || !can_be_sampled_[index]) continue;
      definitions_.metrics[index].set = whose + std::to_string(self);
    }
  }

  void parameters() {
    for (const RawDefinitions::NamedParameter& raw : raw_.parameters) {
      if (!references_.parameters.add(raw.self, size_of(definitions_.parameters))) continue;
      definitions_.parameters.push_back({text(raw.name), parameter_type_of(raw.type)});
    }
  }

  // MPI groups: the members of a group are indices into the list of all MPI locations.
  void communicators() {
    std::vector<std::uint64_t> all;
    std::unordered_map<OTF2_GroupRef, const RawDefinitions::CommGroup*> groups;
    for (const RawDefinitions::CommGroup& group : raw_.mpi_groups) {
      if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS) all = group.members;
      groups.try_emplace(group.self, &group);
    }
    for (const RawDefinitions::Comm& raw : raw_.comms) {
      const auto group = groups.find(raw.group);
      if (group == groups.end()) continue;
      if (!references_.communicators.add(raw.self, size_of(definitions_.communicators))) continue;
      Communicator& made = definitions_.communicators.emplace_back();
      made.name = text(raw.name);
      made.self = group->second->type == OTF2_GROUP_TYPE_COMM_SELF;
      const auto add_members = [&](const RawDefinitions::CommGroup& one) {
        for (const std::uint64_t place : one.members) {
          made.members.push_back(place < all.size() ? LocationId{all[place]} : LocationId{});
        }
      };
      add_members(*group->second);
      const auto others = groups.find(raw.others);
      if (others == groups.end()) continue;
      made.self = false;
      made.members.push_back(kSecondGroup);
      add_members(*others->second);
    }
    for (const RawDefinitions::Comm& raw : raw_.comms) {
      const std::uint32_t self = references_.communicators.find(raw.self);
      const std::uint32_t parent = references_.communicators.find(raw.parent);
      if (self == kNoIndex || parent == kNoIndex || self == parent) continue;
      definitions_.communicators[self].parent = CommunicatorId{parent};
    }
  }

  // The members of a team are indices, too, into the list of all locations of OpenMP.
  void teams() {
    std::vector<std::uint64_t> all;
    std::unordered_map<OTF2_GroupRef, const RawDefinitions::CommGroup*> groups;
    for (const RawDefinitions::CommGroup& group : raw_.team_groups) {
      if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS) all = group.members;
      groups.try_emplace(group.self, &group);
    }
    for (const RawDefinitions::Comm& raw : raw_.comms) {
      const auto group = groups.find(raw.group);
      if (group == groups.end()) continue;
      std::vector<LocationId> members;
      for (const std::uint64_t place : group->second->members) {
        members.push_back(place < all.size() ? LocationId{all[place]} : LocationId{});
      }
      references_.teams.try_emplace(raw.self, std::move(members));
    }
  }

  void io() {
    for (const RawDefinitions::IoInterface& raw : raw_.io_interfaces) {
      const std::string name = text(raw.identification);
      const IoParadigm interface = name == "POSIX"    ? IoParadigm::kPosix
                                   : name == "ISOC"   ? IoParadigm::kIsoC
                                   : name == "MPI-IO" ? IoParadigm::kMpi
                                                      : IoParadigm::kOther;
      (void)references_.io_interfaces.add(raw.self, static_cast<std::uint32_t>(interface));
    }
    for (const RawDefinitions::IoFile& raw : raw_.io_files) {
      (void)references_.io_files.add(raw.self, references_.strings.find(raw.name));
    }
    for (const RawDefinitions::IoHandle& raw : raw_.io_handles) {
      if (!references_.io_handles.add(raw.self, size_of(definitions_.io_handles))) continue;
      definitions_.io_handles.push_back(io_handle(raw));
    }
    for (std::size_t i = 0; i < definitions_.io_handles.size(); ++i) {
      IoHandleId& parent = definitions_.io_handles[i].parent;
      if (parent.defined()) parent = IoHandleId{references_.io_handles.find(parent.value())};
    }
    for (const RawDefinitions::IoState& raw : raw_.io_states) {
      const std::uint32_t index = references_.io_handles.find(raw.handle);
      if (index == kNoIndex) continue;
      definitions_.io_handles[index].access = raw.access;
      definitions_.io_handles[index].status = raw.status;
    }
  }

  IoHandle io_handle(const RawDefinitions::IoHandle& raw) const {
    IoHandle handle;
    handle.name = text(raw.name);
    const std::uint32_t file = references_.io_files.find(raw.file);
    if (file != kNoIndex) handle.file = definitions_.strings[file];
    const std::uint32_t interface = references_.io_interfaces.find(raw.interface);
    handle.paradigm =
        interface == kNoIndex ? IoParadigm::kOther : static_cast<IoParadigm>(interface);
    handle.parent = IoHandleId{raw.parent};
    handle.pre_created = (raw.flags & OTF2_IO_HANDLE_FLAG_PRE_CREATED) != 0;
    return handle;
  }

  std::vector<bool> can_be_sampled_;  // of metrics
  const RawDefinitions& raw_;
  Definitions& definitions_;
  References& references_;
  const std::string& what_;
};

}  // namespace

void RawDefinitions::resolve(Definitions& definitions, References& references,
                             const std::string& what) const {
  Resolver(*this, definitions, references, what).resolve();
}

}  // namespace timeloom::otf2
