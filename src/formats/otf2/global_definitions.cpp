#include "formats/otf2/global_definitions.hpp"

#include <algorithm>
#include <map>

#include "core/memory/memory_attributes.hpp"
#include "formats/otf2/copy_writer.hpp"
#include "formats/otf2/enumerations.hpp"
#include "formats/otf2/io_writer.hpp"
#include "formats/otf2/message_writer.hpp"
#include "formats/otf2/team_writer.hpp"
#include "formats/otf2/thread_writer.hpp"

namespace timeloom::otf2 {

namespace {

const std::string& canonical_name(const Region& region) {
  return region.canonical_name.empty() ? region.name : region.canonical_name;
}

template <typename Place>
const std::string& shown_name(const Place& place) {
  return place.alias.empty() ? place.name : place.alias;
}

std::string machine_name(const Definitions& definitions) {
  return definitions.machine_name.empty() ? "Linux" : definitions.machine_name;
}

constexpr char kWaitingText[] =
    "Nanoseconds in which the thread did not run, of the time before this event";

bool has_waiting(const Definitions& definitions) {
  return std::ranges::any_of(definitions.metrics, &Metric::is_waiting);
}

class GlobalDefinitions {
 public:
  GlobalDefinitions(Shared& shared, const Written& written, OTF2_GlobalDefWriter* writer)
      : definitions_(*shared.definitions), shared_(shared), written_(written), writer_(writer) {}

  void write(const Epoch& epoch) {
    ok(OTF2_GlobalDefWriter_WriteClockProperties(writer_, definitions_.clock.ticks_per_second,
                                                 epoch.begin, epoch.length, epoch.realtime));
    write_strings();
    write_attributes();
    write_processes();
    write_locations();
    write_regions();
    const OTF2_GroupRef groups = write_region_groups(region_groups());
    const OTF2_GroupRef behind_threads = write_thread_communicators(shared_, writer_, groups);
    const OTF2_GroupRef behind_teams = write_team_communicators(shared_, writer_, behind_threads);
    write_communicators(shared_, writer_, write_windows(shared_, writer_, behind_teams));
    write_metrics();
    write_parameters();
    write_io_definitions(shared_, writer_);
    write_calling_contexts(shared_, writer_);
    write_memory_attributes();
  }

 private:
  void ok(OTF2_ErrorCode code) const { check(code, shared_.what); }
  OTF2_StringRef ref(const std::string& text) { return shared_.strings.intern(text); }

  void write_strings() {
    OTF2_StringRef reference = 0;
    for (const std::string& text : shared_.strings.strings()) {
      ok(OTF2_GlobalDefWriter_WriteString(writer_, reference++, text.c_str()));
    }
  }

  void write_attributes() {
    ok(OTF2_GlobalDefWriter_WriteAttribute(writer_, kProcessIdAttribute, ref("ProcessId"),
                                           ref("Process identifier"), OTF2_TYPE_UINT64));
    ok(OTF2_GlobalDefWriter_WriteAttribute(writer_, kThreadIdAttribute, ref("ThreadId"),
                                           ref("Thread identifier"), OTF2_TYPE_UINT64));
    if (!has_waiting(definitions_)) return;
    ok(OTF2_GlobalDefWriter_WriteAttribute(writer_, kWaitingAttribute, ref(kWaitingName),
                                           ref(kWaitingText), OTF2_TYPE_UINT64));
    if (!has_causes(definitions_)) return;
    for (std::size_t i = 1; i < kWaitingCauses; ++i) {
      ok(OTF2_GlobalDefWriter_WriteAttribute(
          writer_, kFirstCauseAttribute + static_cast<OTF2_AttributeRef>(i - 1),
          ref(cause_attribute_name(i)), ref(kCauseTexts[i]), OTF2_TYPE_UINT64));
    }
  }

  // Behind the attribute of transfers, since references ascend.
  void write_memory_attributes() {
    if (!has_memory_calls(definitions_)) return;
    for (std::size_t i = 0; i < kMemoryAttributes; ++i) {
      ok(OTF2_GlobalDefWriter_WriteAttribute(
          writer_, shared_.memory_attribute + static_cast<OTF2_AttributeRef>(i),
          ref(kMemoryAttributeTexts[i].name), ref(kMemoryAttributeTexts[i].description),
          OTF2_TYPE_UINT64));
    }
  }

  void write_node(OTF2_SystemTreeNodeRef self, const std::string& name, const char* class_name,
                  OTF2_SystemTreeNodeRef parent, OTF2_SystemTreeDomain domain) {
    ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, self, ref(name), ref(class_name), parent));
    ok(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, self, domain));
  }

  // The machine is node 0; the hosts follow in the order of their first process.
  void write_processes() {
    write_node(0, machine_name(definitions_), "machine", OTF2_UNDEFINED_SYSTEM_TREE_NODE,
               OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
    std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
    OTF2_LocationGroupRef self = 0;
    for (const LocationGroup& group : definitions_.groups) {
      const auto next = static_cast<OTF2_SystemTreeNodeRef>(hosts.size() + 1);
      const auto [host, fresh] = hosts.try_emplace(group.hostname, next);
      if (fresh) {
        write_node(next, group.hostname, "node", 0, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
      }
      ok(OTF2_GlobalDefWriter_WriteLocationGroup(writer_, self, ref(shown_name(group)),
                                                 OTF2_LOCATION_GROUP_TYPE_PROCESS, host->second,
                                                 creator_of(group)));
      if (group.process_id != 0) {
        ok(OTF2_GlobalDefWriter_WriteLocationGroupProperty(
            writer_, self, ref("ProcessId"), OTF2_TYPE_STRING,
            text_value(std::to_string(group.process_id))));
      }
      const auto put = [&](const char* name, const std::string& value) {
        ok(OTF2_GlobalDefWriter_WriteLocationGroupProperty(writer_, self, ref(name),
                                                           OTF2_TYPE_STRING, text_value(value)));
      };
      if (!group.ending.empty()) put(kEndingProperty, group.ending);
      if (!group.alias.empty()) put(kNameProperty, group.name);
      ++self;
    }
    write_contexts(hosts);
  }

  // The devices of all hosts follow the hosts, and contexts follow processes.
  void write_contexts(const std::map<std::string, OTF2_SystemTreeNodeRef>& hosts) {
    std::map<std::pair<OTF2_SystemTreeNodeRef, std::string>, OTF2_SystemTreeNodeRef> devices;
    auto self = static_cast<OTF2_LocationGroupRef>(definitions_.groups.size());
    for (const AcceleratorContext& context : definitions_.contexts) {
      const std::uint32_t process = context.process.value();
      const OTF2_SystemTreeNodeRef host = hosts.at(definitions_.groups.at(process).hostname);
      const auto next = static_cast<OTF2_SystemTreeNodeRef>(1 + hosts.size() + devices.size());
      const auto [device, fresh] = devices.try_emplace({host, context.device}, next);
      if (fresh) {
        write_node(next, context.device, kDeviceClass, host,
                   OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE);
      }
      ok(OTF2_GlobalDefWriter_WriteLocationGroup(writer_, self++, ref(context.name),
                                                 OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
                                                 device->second, process));
    }
  }

  OTF2_LocationGroupRef group_of(const Location& location) const {
    if (!location.context.defined()) return location.group.value();
    return static_cast<OTF2_LocationGroupRef>(definitions_.groups.size()) +
           location.context.value();
  }

  static OTF2_LocationGroupRef creator_of(const LocationGroup& group) {
    return group.creator.defined() ? group.creator.value() : OTF2_UNDEFINED_LOCATION_GROUP;
  }

  OTF2_AttributeValue text_value(const std::string& text) {
    OTF2_AttributeValue value;
    value.stringRef = ref(text);
    return value;
  }

  void write_locations() {
    for (const Location& location : definitions_.locations) {
      ok(OTF2_GlobalDefWriter_WriteLocation(writer_, location.id.value(), ref(shown_name(location)),
                                            type_of(location.type), written_.of(location.id).events,
                                            group_of(location)));
      const auto put = [&](const char* name, const std::string& value) {
        ok(OTF2_GlobalDefWriter_WriteLocationProperty(writer_, location.id.value(), ref(name),
                                                      OTF2_TYPE_STRING, text_value(value)));
      };
      if (location.thread_id != 0) put("ThreadId", std::to_string(location.thread_id));
      if (!location.alias.empty()) put(kNameProperty, location.name);
      if (has_location(definitions_, location.feeder))
        put(kFeederProperty, std::to_string(location.feeder.value()));
    }
  }

  void write_regions() {
    OTF2_RegionRef self = 0;
    for (const Region& region : definitions_.regions) {
      const OTF2_StringRef file = region.file.empty() ? OTF2_UNDEFINED_STRING : ref(region.file);
      ok(OTF2_GlobalDefWriter_WriteRegion(writer_, self++, ref(region.name),
                                          ref(canonical_name(region)), 0, role_of(region.role),
                                          paradigm_of(region.paradigm), OTF2_REGION_FLAG_NONE, file,
                                          region.first_line, region.last_line));
    }
  }

  std::map<std::string, std::vector<std::uint64_t>> region_groups() const {
    std::map<std::string, std::vector<std::uint64_t>> groups;
    for (std::size_t i = 0; i < definitions_.regions.size(); ++i) {
      const std::string& group = definitions_.regions[i].group;
      if (!group.empty()) groups[group].push_back(i);
    }
    return groups;
  }

  // A group too large for one record becomes several of the same name. Returns the id of the next
  // group.
  OTF2_GroupRef write_region_groups(
      const std::map<std::string, std::vector<std::uint64_t>>& groups) {
    OTF2_GroupRef self = 0;
    for (const auto& [name, members] : groups) {
      const Paradigm paradigm = definitions_.regions[members.front()].paradigm;
      for (std::size_t at = 0; at < members.size(); at += kGroupMembers) {
        const std::size_t count = std::min(kGroupMembers, members.size() - at);
        ok(OTF2_GlobalDefWriter_WriteGroup(writer_, self++, ref(name), OTF2_GROUP_TYPE_REGIONS,
                                           paradigm_of(paradigm), OTF2_GROUP_FLAG_NONE,
                                           static_cast<std::uint32_t>(count), members.data() + at));
      }
    }
    return self;
  }

  // A class for each counter that is sampled alone, and one for counters that are sampled together.
  // Metrics of processes have one instance for each process. Waiting is an attribute.
  void write_metrics() {
    std::vector<std::size_t> written;
    for (std::size_t i = 0; i < definitions_.metrics.size(); ++i) {
      const Metric& metric = definitions_.metrics[i];
      if (metric.of_waiting()) continue;
      const OTF2_Base base = metric.binary ? OTF2_BASE_BINARY : OTF2_BASE_DECIMAL;
      ok(OTF2_GlobalDefWriter_WriteMetricMember(
          writer_, static_cast<OTF2_MetricMemberRef>(written.size()), ref(metric.name),
          ref(metric.description), type_of(metric.source), mode_of(metric.mode),
          type_of(metric.type), base, metric.exponent, ref(metric.unit)));
      written.push_back(i);
    }
    for (const std::size_t first : written) {
      if (shared_.metrics[first].member == 0) write_metric_class(first, written);
    }
    for (const Location& location : definitions_.locations) write_metric_instances(location);
  }

  void write_metric_instances(const Location& location) {
    const auto& all = shared_.metric_instances;
    for (auto next = all.lower_bound({location.id, 0});
         next != all.end() && next->first.first == location.id; ++next) {
      ok(OTF2_GlobalDefWriter_WriteMetricInstance(writer_, next->second, next->first.second,
                                                  location.id.value(), OTF2_SCOPE_LOCATION_GROUP,
                                                  location.group.value()));
    }
  }

  // `written`: metrics in the order of their references as members.
  void write_metric_class(std::size_t first, const std::vector<std::size_t>& written) {
    const Metric& metric = definitions_.metrics[first];
    const MetricMember& place = shared_.metrics[first];
    std::vector<OTF2_MetricMemberRef> members;
    for (std::size_t member = 0; member < written.size(); ++member) {
      if (shared_.metrics[written[member]].metric_class == place.metric_class) {
        members.push_back(static_cast<OTF2_MetricMemberRef>(member));
      }
    }
    ok(OTF2_GlobalDefWriter_WriteMetricClass(
        writer_, place.metric_class, place.members, members.data(),
        metric.sampled() ? OTF2_METRIC_SYNCHRONOUS_STRICT : OTF2_METRIC_ASYNCHRONOUS,
        metric.of_process() ? OTF2_RECORDER_KIND_ABSTRACT : OTF2_RECORDER_KIND_CPU));
  }

  void write_parameters() {
    OTF2_ParameterRef self = 0;
    for (const Parameter& parameter : definitions_.parameters) {
      ok(OTF2_GlobalDefWriter_WriteParameter(writer_, self++, ref(parameter.name),
                                             type_of(parameter.type)));
    }
  }

  const Definitions& definitions_;
  Shared& shared_;
  const Written& written_;
  OTF2_GlobalDefWriter* writer_;
};

}  // namespace

void intern_names(Shared& shared) {
  const Definitions& definitions = *shared.definitions;
  const auto ref = [&](const std::string& text) { shared.strings.intern(text); };
  for (const char* text :
       {"machine", "node", "ProcessId", "ThreadId", "Process identifier", "Thread identifier",
        kEndingProperty, kNameProperty, kFeederProperty, kDeviceClass}) {
    ref(text);
  }
  const bool waiting = has_waiting(definitions);
  if (waiting) {
    ref(kWaitingName);
    ref(kWaitingText);
  }
  const bool causes = waiting && has_causes(definitions);
  for (std::size_t i = 1; causes && i < kWaitingCauses; ++i) {
    ref(cause_attribute_name(i));
    ref(kCauseTexts[i]);
  }
  shared.offset_attribute = kThreadIdAttribute + (waiting ? 2 : 1) +
                            static_cast<OTF2_AttributeRef>(causes ? kCauseAttributes : 0);
  // The attribute of transfers is defined where there are handles only, and references have no
  // gaps.
  shared.memory_attribute = shared.offset_attribute + (definitions.io_handles.empty() ? 0 : 1);
  for (const MemoryAttributeText& one : kMemoryAttributeTexts) {
    if (!has_memory_calls(definitions)) break;
    ref(one.name);
    ref(one.description);
  }
  ref(machine_name(definitions));
  for (const LocationGroup& group : definitions.groups) {
    ref(group.name);
    ref(group.alias);
    ref(group.hostname);
    ref(std::to_string(group.process_id));
    if (!group.ending.empty()) ref(group.ending);
  }
  for (const Location& location : definitions.locations) {
    ref(location.name);
    ref(location.alias);
    ref(std::to_string(location.thread_id));
    if (location.feeder.defined()) ref(std::to_string(location.feeder.value()));
  }
  for (const AcceleratorContext& context : definitions.contexts) {
    ref(context.name);
    ref(context.device);
  }
  for (const Region& region : definitions.regions) {
    ref(region.name);
    ref(canonical_name(region));
    ref(region.file);
    ref(region.group);
  }
  for (const Metric& metric : definitions.metrics) {
    ref(metric.name);
    ref(metric.unit);
    ref(metric.description);
  }
  for (const Parameter& parameter : definitions.parameters) ref(parameter.name);
  intern_io_names(shared);
  intern_thread_names(shared);
  intern_communicators(shared);
  intern_team_names(shared);
  intern_windows(shared);
  intern_generator(shared);
}

void write_global_definitions(Shared& shared, const Written& written, const Epoch& epoch) {
  OTF2_GlobalDefWriter* writer =
      check(OTF2_Archive_GetGlobalDefWriter(shared.archive), shared.what);
  GlobalDefinitions(shared, written, writer).write(epoch);
  check(OTF2_Archive_CloseGlobalDefWriter(shared.archive, writer), shared.what);
}

}  // namespace timeloom::otf2
