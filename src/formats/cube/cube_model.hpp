// The description in a CUBE file: metrics, regions, call paths and the machine; everything except
// the values.
//
// Plain values that own their data; not synchronised. Ids are positions in the vectors of one Cube.
// They may differ from the numbers in a file: the reader puts call paths into the order of the
// document, whatever their numbers are. Throws only std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "formats/cube/value_type.hpp"

namespace timeloom::cube {

using CubeMetricId = Id<struct CubeMetricTag, std::uint32_t>;
using CubeRegionId = Id<struct CubeRegionTag, std::uint32_t>;
using CnodeId = Id<struct CnodeTag, std::uint32_t>;  // a node of the call tree
using SystemNodeId = Id<struct SystemNodeTag, std::uint32_t>;
using CubeGroupId = Id<struct CubeGroupTag, std::uint32_t>;
using CubeLocationId = Id<struct CubeLocationTag, std::uint32_t>;

struct Attribute {
  std::string key;
  std::string value;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};
using Attributes = std::vector<Attribute>;

enum class MetricKind : std::uint8_t {
  kExclusive,  // the value of a call path leaves out those below it
  kInclusive,  // ... includes them
  kSimple,
  kPostDerived,  // computed by the tool that shows it; no values in the file
  kPreDerivedInclusive,
  kPreDerivedExclusive,
};

// One of the elements that define a derived metric, as in the file.
struct Expression {
  std::string element;
  Attributes attributes;
  std::string text;
  friend bool operator==(const Expression&, const Expression&) = default;
};

struct Metric {
  std::string name;         // for people
  std::string unique_name;  // for programs
  ValueType type;
  MetricKind kind = MetricKind::kExclusive;
  std::string unit;
  std::string value;
  std::string url;
  std::string description;
  CubeMetricId parent;  // a part of this metric, and placed after it; undefined: none
  bool ghost = false;   // not shown
  bool cacheable = true;
  std::vector<Expression> expressions;
  Attributes attributes;
  friend bool operator==(const Metric&, const Metric&) = default;
};

struct Region {
  std::string name;
  std::string mangled_name;
  std::string paradigm;
  std::string role;
  std::string url;
  std::string description;
  std::string file;         // source file, or a pseudo file; empty: unknown
  std::int64_t begin = -1;  // line; -1: unknown
  std::int64_t end = -1;
  Attributes attributes;
  friend bool operator==(const Region&, const Region&) = default;
};

struct CnodeParameter {
  bool numeric = true;
  std::string key;
  std::string value;
  friend bool operator==(const CnodeParameter&, const CnodeParameter&) = default;
};

struct Cnode {     // there may be a million: fields that no tool writes are left out
  CnodeId parent;  // placed before its children; undefined: a root
  CubeRegionId region;
  std::vector<CnodeParameter> parameters;
  friend bool operator==(const Cnode&, const Cnode&) = default;
};

struct SystemNode {  // a machine, a node of it, ...
  SystemNodeId parent;
  std::string name;
  std::string kind;  // "machine", "node", ...
  std::string description;
  Attributes attributes;
  friend bool operator==(const SystemNode&, const SystemNode&) = default;
};

struct Group {  // a process
  SystemNodeId node;
  std::string name;
  std::uint64_t rank = 0;
  std::string type = "process";
  Attributes attributes;
  friend bool operator==(const Group&, const Group&) = default;
};

struct Location {  // a thread
  CubeGroupId group;
  std::string name;
  std::uint64_t rank = 0;
  std::string type = "thread";
  Attributes attributes;
  friend bool operator==(const Location&, const Location&) = default;
};

struct Cube {
  Attributes attributes;
  std::vector<std::string> mirrors;  // URLs with the documentation of metrics
  std::vector<Metric> metrics;
  std::vector<Region> regions;
  std::vector<Cnode> cnodes;             // in pre-order, as in the document
  std::vector<SystemNode> system_nodes;  // parents before children
  std::vector<Group> groups;
  std::vector<Location> locations;
  friend bool operator==(const Cube&, const Cube&) = default;
};

// The value of the first attribute with this key; nullptr: there is none.
const std::string* find_attribute(const Attributes& attributes, std::string_view key) noexcept;

// The metric with that unique name; undefined: none.
CubeMetricId find_metric(const Cube& cube, std::string_view unique_name) noexcept;

// The call paths in the "wide" order in which values of inclusive metrics are stored: a call path
// is followed by its children, then by everything below its first child, then by everything below
// its second child, and so on.
std::vector<CnodeId> wide_order(const Cube& cube);

}  // namespace timeloom::cube
