#include "formats/otf2/read/raw_definitions.hpp"

#include <utility>

namespace timeloom::otf2 {

namespace {

RawDefinitions& raw(void* data) { return *static_cast<RawDefinitions*>(data); }

// No exception may pass through the library: it is kept, and ends the reading.
template <typename Function>
OTF2_CallbackCode keep(void* data, const Function& function) noexcept {
  try {
    function(raw(data));
    return OTF2_CALLBACK_SUCCESS;
  } catch (...) {
    raw(data).failure = std::current_exception();
    return OTF2_CALLBACK_INTERRUPT;
  }
}

OTF2_CallbackCode on_clock(void* data, std::uint64_t ticks_per_second, std::uint64_t offset,
                           std::uint64_t length, std::uint64_t realtime) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.has_clock = true;
    all.clock = {ticks_per_second, offset, length, std::nullopt};
    if (realtime != OTF2_UNDEFINED_TIMESTAMP) all.clock.realtime = realtime;
  });
}

OTF2_CallbackCode on_string(void* data, OTF2_StringRef self, const char* text) noexcept {
  return keep(data, [&](RawDefinitions& all) { all.strings.push_back({self, text}); });
}

OTF2_CallbackCode on_attribute(void* data, OTF2_AttributeRef self, OTF2_StringRef name,
                               OTF2_StringRef, OTF2_Type) noexcept {
  return keep(data, [&](RawDefinitions& all) { all.attributes.push_back({self, name}); });
}

OTF2_CallbackCode on_node(void* data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                          OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.nodes.try_emplace(self, RawDefinitions::Node{name, class_name, parent});
  });
}

OTF2_CallbackCode on_group(void* data, OTF2_LocationGroupRef self, OTF2_StringRef name,
                           OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                           OTF2_LocationGroupRef creator) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.groups.push_back({self, name, parent, creator, type});
  });
}

OTF2_CallbackCode on_group_property(void* data, OTF2_LocationGroupRef owner, OTF2_StringRef name,
                                    OTF2_Type type, OTF2_AttributeValue value) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.group_properties.push_back({owner, name, type, value});
  });
}

OTF2_CallbackCode on_location(void* data, OTF2_LocationRef self, OTF2_StringRef name,
                              OTF2_LocationType type, std::uint64_t events,
                              OTF2_LocationGroupRef group) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.locations.push_back({self, name, type, events, group});
  });
}

OTF2_CallbackCode on_location_property(void* data, OTF2_LocationRef owner, OTF2_StringRef name,
                                       OTF2_Type type, OTF2_AttributeValue value) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.location_properties.push_back({owner, name, type, value});
  });
}

OTF2_CallbackCode on_region(void* data, OTF2_RegionRef self, OTF2_StringRef name,
                            OTF2_StringRef canonical_name, OTF2_StringRef, OTF2_RegionRole role,
                            OTF2_Paradigm paradigm, OTF2_RegionFlag, OTF2_StringRef file,
                            std::uint32_t first_line, std::uint32_t last_line) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.regions.push_back(
        {self, name, canonical_name, file, role, paradigm, first_line, last_line});
  });
}

OTF2_CallbackCode on_any_group(void* data, OTF2_GroupRef self, OTF2_StringRef name,
                               OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag,
                               std::uint32_t count, const std::uint64_t* members) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    if (type == OTF2_GROUP_TYPE_REGIONS) {
      all.region_groups.push_back({name, {members, members + count}});
    } else if (paradigm == OTF2_PARADIGM_MPI) {
      all.mpi_groups.push_back({self, type, {members, members + count}});
    } else if (paradigm == OTF2_PARADIGM_OPENMP) {
      all.team_groups.push_back({self, type, {members, members + count}});
    }
  });
}

OTF2_CallbackCode on_comm(void* data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                          OTF2_CommRef parent, OTF2_CommFlag) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.comms.push_back({self, name, group, OTF2_UNDEFINED_GROUP, parent});
  });
}

OTF2_CallbackCode on_inter_comm(void* data, OTF2_CommRef self, OTF2_StringRef name,
                                OTF2_GroupRef first, OTF2_GroupRef second, OTF2_CommRef common,
                                OTF2_CommFlag) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.comms.push_back({self, name, first, second, common});
  });
}

OTF2_CallbackCode on_metric_member(void* data, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef description, OTF2_MetricType,
                                   OTF2_MetricMode mode, OTF2_Type type, OTF2_Base base,
                                   std::int64_t exponent, OTF2_StringRef unit) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.members.push_back({self, name, description, unit, type, mode, base, exponent});
  });
}

OTF2_CallbackCode on_metric_class(void* data, OTF2_MetricRef self, std::uint8_t count,
                                  const OTF2_MetricMemberRef* members,
                                  OTF2_MetricOccurrence occurrence, OTF2_RecorderKind) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.metric_classes.push_back({self, {members, members + count}, occurrence});
  });
}

OTF2_CallbackCode on_metric_instance(void* data, OTF2_MetricRef self, OTF2_MetricRef metric_class,
                                     OTF2_LocationRef, OTF2_MetricScope scope,
                                     std::uint64_t) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.metric_instances.push_back({self, metric_class, scope});
  });
}

OTF2_CallbackCode on_parameter(void* data, OTF2_ParameterRef self, OTF2_StringRef name,
                               OTF2_ParameterType type) noexcept {
  return keep(data, [&](RawDefinitions& all) { all.parameters.push_back({self, name, type}); });
}

OTF2_CallbackCode on_io_interface(void* data, OTF2_IoParadigmRef self,
                                  OTF2_StringRef identification, OTF2_StringRef,
                                  OTF2_IoParadigmClass, OTF2_IoParadigmFlag, std::uint8_t,
                                  const OTF2_IoParadigmProperty*, const OTF2_Type*,
                                  const OTF2_AttributeValue*) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.io_interfaces.push_back({self, identification});
  });
}

OTF2_CallbackCode on_io_file(void* data, OTF2_IoFileRef self, OTF2_StringRef name,
                             OTF2_SystemTreeNodeRef) noexcept {
  return keep(data, [&](RawDefinitions& all) { all.io_files.push_back({self, name}); });
}

OTF2_CallbackCode on_io_handle(void* data, OTF2_IoHandleRef self, OTF2_StringRef name,
                               OTF2_IoFileRef file, OTF2_IoParadigmRef interface,
                               OTF2_IoHandleFlag flags, OTF2_CommRef,
                               OTF2_IoHandleRef parent) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.io_handles.push_back({self, name, file, interface, flags, parent});
  });
}

OTF2_CallbackCode on_io_state(void* data, OTF2_IoHandleRef handle, OTF2_IoAccessMode access,
                              OTF2_IoStatusFlag status) noexcept {
  return keep(data, [&](RawDefinitions& all) {
    all.io_states.push_back({handle, access, status});
  });
}

}  // namespace

void RawDefinitions::read(OTF2_Reader* reader, const std::string& what) {
  forget_library_errors();
  OTF2_GlobalDefReader* definitions = check(OTF2_Reader_GetGlobalDefReader(reader), what);
  const std::unique_ptr<OTF2_GlobalDefReaderCallbacks,
                        decltype(&OTF2_GlobalDefReaderCallbacks_Delete)>
      owned(OTF2_GlobalDefReaderCallbacks_New(), &OTF2_GlobalDefReaderCallbacks_Delete);
  OTF2_GlobalDefReaderCallbacks* const callbacks = owned.get();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, on_node);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_group);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(callbacks, on_group_property);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
  OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(callbacks, on_location_property);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_any_group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_inter_comm);
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(callbacks, on_metric_member);
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(callbacks, on_metric_class);
  OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(callbacks, on_metric_instance);
  OTF2_GlobalDefReaderCallbacks_SetParameterCallback(callbacks, on_parameter);
  OTF2_GlobalDefReaderCallbacks_SetIoParadigmCallback(callbacks, on_io_interface);
  OTF2_GlobalDefReaderCallbacks_SetIoRegularFileCallback(callbacks, on_io_file);
  OTF2_GlobalDefReaderCallbacks_SetIoDirectoryCallback(callbacks, on_io_file);
  OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback(callbacks, on_io_handle);
  OTF2_GlobalDefReaderCallbacks_SetIoPreCreatedHandleStateCallback(callbacks, on_io_state);
  check(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, this), what);
  std::uint64_t read = 0;
  // Reads up to the end of the file, whatever number the anchor contains.
  const OTF2_ErrorCode code =
      OTF2_Reader_ReadGlobalDefinitions(reader, definitions, OTF2_UNDEFINED_UINT64, &read);
  if (failure) std::rethrow_exception(failure);
  check(code, what);
  check(OTF2_Reader_CloseGlobalDefReader(reader, definitions), what);
}

}  // namespace timeloom::otf2
