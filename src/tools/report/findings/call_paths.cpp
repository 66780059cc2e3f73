#include "tools/report/findings/call_paths.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/regions/dotted_name.hpp"

namespace timeloom::tools {

namespace {

using profile::NodeId;

// What matters of a region, looked up once for all call paths that end in it.
struct RegionFacts {
  bool body = false;
  bool starts_work = false;
};

// Functions that start threads and give them work: a thread in which they are outermost does what
// they call.
bool starts_work(const Region& region) {
  constexpr std::array<std::string_view, 4> kModules = {"threading.", "concurrent.futures.",
                                                        "multiprocessing.", "queue."};
  const std::string name = dotted_name(region.name);
  return std::ranges::any_of(kModules,
                             [&](std::string_view module) { return name.starts_with(module); });
}

std::vector<RegionFacts> facts_of_regions(const Definitions& definitions) {
  std::vector<RegionFacts> facts;
  for (const Region& region : definitions.regions) {
    // Also the body in a forked child, which has "(forked)" behind it.
    const bool body = region.name.find("<module>") != std::string::npos;
    facts.push_back({body, starts_work(region)});
  }
  return facts;
}

void set_once(NodeId& outermost, NodeId node) {
  if (!outermost.defined()) outermost = node;
}

}  // namespace

CallPaths call_paths(const profile::CallTree& tree, const CodeOwner& owner) {
  const std::vector<RegionFacts> facts = facts_of_regions(tree.definitions);
  CallPaths paths;
  paths.reserve(tree.nodes.size());
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const profile::Node& node = tree.nodes[i];
    CallPath& path = paths.emplace_back();
    if (node.parent.defined()) path = paths[node.parent.value()];
    if (!node.region.defined()) continue;
    const RegionFacts& region = facts[node.region.value()];
    if (region.body) path.body = NodeId{i};
    if (owner.is_import(node.region)) path.import = NodeId{i};
    if (owner.is_project(node.region)) {
      path.innermost = NodeId{i};
      set_once(path.outermost, path.innermost);
      if (!region.body) set_once(path.function, path.innermost);
    } else if (!region.starts_work) {
      set_once(path.library, NodeId{i});
    }
  }
  return paths;
}

}  // namespace timeloom::tools
