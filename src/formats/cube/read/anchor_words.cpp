#include "formats/cube/read/anchor_words.hpp"

namespace timeloom::cube {

namespace {

struct Nesting {
  Kind parent;
  std::string_view element;
  Kind kind;
};

// Versions before 4.3 use other names for the parts of the machine.
constexpr Nesting kNesting[] = {
    {Kind::kNone, "cube", Kind::kCube},
    {Kind::kCube, "attr", Kind::kAttribute},
    {Kind::kCube, "doc", Kind::kCube},
    {Kind::kCube, "mirrors", Kind::kMirrors},
    {Kind::kCube, "metrics", Kind::kMetrics},
    {Kind::kCube, "program", Kind::kProgram},
    {Kind::kCube, "system", Kind::kSystem},
    {Kind::kMetrics, "metric", Kind::kMetric},
    {Kind::kMetric, "metric", Kind::kMetric},
    {Kind::kMetric, "attr", Kind::kAttribute},
    {Kind::kProgram, "region", Kind::kRegion},
    {Kind::kRegion, "attr", Kind::kAttribute},
    {Kind::kProgram, "cnode", Kind::kCnode},
    {Kind::kCnode, "cnode", Kind::kCnode},
    {Kind::kCnode, "parameter", Kind::kParameter},
    {Kind::kSystem, "systemtreenode", Kind::kSystemNode},
    {Kind::kSystem, "machine", Kind::kSystemNode},
    {Kind::kSystemNode, "systemtreenode", Kind::kSystemNode},
    {Kind::kSystemNode, "node", Kind::kSystemNode},
    {Kind::kSystemNode, "locationgroup", Kind::kGroup},
    {Kind::kSystemNode, "process", Kind::kGroup},
    {Kind::kSystemNode, "attr", Kind::kAttribute},
    {Kind::kGroup, "location", Kind::kLocation},
    {Kind::kGroup, "thread", Kind::kLocation},
    {Kind::kGroup, "attr", Kind::kAttribute},
    {Kind::kLocation, "attr", Kind::kAttribute},
};

}  // namespace

Kind kind_of(Kind parent, std::string_view element) {
  for (const Nesting& one : kNesting) {
    if (one.parent == parent && one.element == element) return one.kind;
  }
  switch (parent) {
    case Kind::kMirrors:
    case Kind::kMetric:
    case Kind::kRegion:
    case Kind::kSystemNode:
    case Kind::kGroup:
    case Kind::kLocation: return Kind::kText;
    default: return Kind::kSkipped;
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

MetricKind metric_kind_of(std::string_view name) {
  constexpr std::pair<std::string_view, MetricKind> kKinds[] = {
      {"EXCLUSIVE", MetricKind::kExclusive},
      {"INCLUSIVE", MetricKind::kInclusive},
      {"SIMPLE", MetricKind::kSimple},
      {"POSTDERIVED", MetricKind::kPostDerived},
      {"PREDERIVED_INCLUSIVE", MetricKind::kPreDerivedInclusive},
      {"PREDERIVED_EXCLUSIVE", MetricKind::kPreDerivedExclusive},
  };
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  throw Damage{"the metric type '" + std::string(name) + "' is not known"};
}

void check_version(const std::string& version) {
  if (!version.starts_with("4.") && version != "4") {
    throw Damage{"it is of CUBE version '" + version + "'; version 4 is read"};
  }
}

}  // namespace timeloom::cube
