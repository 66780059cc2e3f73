#include "tools/report/suspensions.hpp"

#include "core/waiting/cause_names.hpp"

namespace timeloom::tools {

bool is_suspended_at(const profile::CallTree& tree, profile::NodeId node) {
  const RegionId region = tree.nodes[node.value()].region;
  return region.defined() && is_suspension(tree.definitions.regions[region.value()]);
}

Suspension suspension_at(const profile::CallTree& tree, profile::NodeId node) {
  while (node.defined() && is_suspended_at(tree, node)) node = tree.nodes[node.value()].parent;
  Suspension found;
  for (; node.defined(); node = tree.nodes[node.value()].parent) {
    const RegionId region = tree.nodes[node.value()].region;
    if (!region.defined()) break;
    if (!found.function.defined()) found.function = region;
    const std::string& name = tree.definitions.regions[region.value()].name;
    if (!is_of_event_loop(name)) break;
    if (const auto cause = cause_of_suspension(name)) found = {region, *cause};
  }
  return found;
}

}  // namespace timeloom::tools
