// The global definitions as an archive contains them: in any order, with references to each other.
// read() collects them, resolve() turns them into core Definitions. Used by one thread. Throws
// Error.
#pragma once

#include "formats/otf2/read/definition_reader.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

namespace timeloom::otf2 {

class RawDefinitions {
 public:
  // Lets the library read all global definitions. Throws Error.
  void read(OTF2_Reader* reader, const std::string& what);
  // Throws Error where a definition refers to a missing one and cannot be left out.
  void resolve(Definitions& definitions, References& references, const std::string& what) const;

  // Filled by callbacks of the library.
  struct Text {
    OTF2_StringRef self;
    std::string text;
  };
  struct Node {
    OTF2_StringRef name;
    OTF2_StringRef class_name;
    OTF2_SystemTreeNodeRef parent;
  };
  struct Group {
    OTF2_LocationGroupRef self;
    OTF2_StringRef name;
    OTF2_SystemTreeNodeRef parent;
    OTF2_LocationGroupRef creator;
    OTF2_LocationGroupType type;
  };
  struct Thread {
    OTF2_LocationRef self;
    OTF2_StringRef name;
    OTF2_LocationType type;
    std::uint64_t events;
    OTF2_LocationGroupRef group;
  };
  struct Code {
    OTF2_RegionRef self;
    OTF2_StringRef name, canonical_name, file;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    std::uint32_t first_line, last_line;
  };
  struct RegionGroup {
    OTF2_StringRef name;
    std::vector<std::uint64_t> members;
  };
  struct CommGroup {  // of locations or processes
    OTF2_GroupRef self;
    OTF2_GroupType type;
    std::vector<std::uint64_t> members;
  };
  struct Comm {
    OTF2_CommRef self;
    OTF2_StringRef name;
    OTF2_GroupRef group;
    OTF2_GroupRef others;  // the second group; undefined: there is only one
    OTF2_CommRef parent;
  };
  struct Member {
    OTF2_MetricMemberRef self;
    OTF2_StringRef name, description, unit;
    OTF2_Type type;
    OTF2_MetricMode mode;
    OTF2_Base base;
    std::int64_t exponent;
  };
  struct MetricClass {
    OTF2_MetricRef self;
    std::vector<OTF2_MetricMemberRef> members;
    OTF2_MetricOccurrence occurrence;
  };
  struct MetricInstance {
    OTF2_MetricRef self, metric_class;
    OTF2_MetricScope scope;
  };
  struct NamedParameter {
    OTF2_ParameterRef self;
    OTF2_StringRef name;
    OTF2_ParameterType type;
  };
  struct Attribute {
    OTF2_AttributeRef self;
    OTF2_StringRef name;
  };
  struct IoInterface {
    OTF2_IoParadigmRef self;
    OTF2_StringRef identification;
  };
  struct IoFile {
    OTF2_IoFileRef self;
    OTF2_StringRef name;
  };
  struct IoHandle {
    OTF2_IoHandleRef self;
    OTF2_StringRef name;
    OTF2_IoFileRef file;
    OTF2_IoParadigmRef interface;
    OTF2_IoHandleFlag flags;
    OTF2_IoHandleRef parent;
  };
  struct IoState {
    OTF2_IoHandleRef handle;
    OTF2_IoAccessMode access;
    OTF2_IoStatusFlag status;
  };
  // Property of a location or location group.
  struct Property {
    std::uint64_t owner;
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
  };

  std::exception_ptr failure;  // of a callback
  bool has_clock = false;
  ClockProperties clock;
  std::vector<Text> strings;
  std::unordered_map<OTF2_SystemTreeNodeRef, Node> nodes;
  std::vector<Group> groups;
  std::vector<Thread> locations;
  std::vector<Code> regions;
  std::vector<RegionGroup> region_groups;
  std::vector<CommGroup> mpi_groups;
  std::vector<CommGroup> team_groups;  // of OpenMP
  std::vector<Comm> comms;
  std::vector<Member> members;
  std::vector<MetricClass> metric_classes;
  std::vector<MetricInstance> metric_instances;
  std::vector<NamedParameter> parameters;
  std::vector<Attribute> attributes;
  std::vector<IoInterface> io_interfaces;
  std::vector<IoFile> io_files;
  std::vector<IoHandle> io_handles;
  std::vector<IoState> io_states;
  std::vector<Property> group_properties;
  std::vector<Property> location_properties;
};

}  // namespace timeloom::otf2
