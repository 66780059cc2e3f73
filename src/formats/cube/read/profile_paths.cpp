#include "formats/cube/read/profile_paths.hpp"

#include "formats/cube/profile_regions.hpp"
#include "profile/preorder.hpp"

namespace timeloom::cube {

using profile::CallTree;
using profile::NodeId;
using profile::ParameterSetId;

CallPaths::CallPaths(const Cube& cube) : cube_(cube), regions_(region_ids(cube)) {
  for (std::uint32_t i = 0; i < cube.cnodes.size(); ++i) add(i);
}

void CallPaths::finish(CallTree& tree) {
  const std::vector<std::uint32_t> places = place_in_preorder(tree);
  for (std::uint32_t& node : nodes_) node = node == 0 ? kNone : places[node];
  tree.parameter_sets.resize(sets_.size());
  for (const auto& [set, id] : sets_) tree.parameter_sets[id] = set;
}

ParameterSetId CallPaths::set_of(const Cnode& cnode) {
  if (cnode.parameters.empty()) return {};
  profile::ParameterSet set;
  for (const CnodeParameter& one : cnode.parameters) {
    set.push_back({one.key, one.value, one.numeric});
  }
  const auto next = static_cast<std::uint32_t>(sets_.size());
  return ParameterSetId{sets_.try_emplace(std::move(set), next).first->second};
}

// A number for a region with parameters that differs from every number of a region alone.
std::uint32_t CallPaths::key_of(std::uint32_t region, ParameterSetId parameters) {
  if (!parameters.defined()) return region;
  const auto next = static_cast<std::uint32_t>(regions_.size() + keys_.size());
  return keys_.try_emplace({region, parameters.value()}, next).first->second;
}

void CallPaths::add(std::uint32_t index) {
  const Cnode& cnode = cube_.cnodes[index];
  const Region& region = cube_.regions[cnode.region.value()];
  const std::uint32_t parent = cnode.parent.defined() ? nodes_[cnode.parent.value()] : 0;
  Fate fate = Fate::kKept;
  if (is_structure(region)) fate = Fate::kLifted;
  if (is_execution(region)) fate = parent != 0 ? Fate::kCounted : Fate::kLifted;
  fates_.push_back(fate);
  if (fate != Fate::kKept) {
    nodes_.push_back(parent);
    return;
  }
  const std::uint32_t own = regions_[cnode.region.value()].value();  // kNone: beyond a limit
  const ParameterSetId parameters = set_of(cnode);
  const std::uint32_t key = key_of(own, parameters);
  std::uint32_t node = children_.find(parent, key);
  if (node == ChildTable::kNone) {
    node = static_cast<std::uint32_t>(paths_.size());
    paths_.push_back({parent, own, parameters});
    children_.insert(parent, key, node);
  }
  nodes_.push_back(node);
}

std::vector<std::uint32_t> CallPaths::place_in_preorder(CallTree& tree) const {
  std::vector<std::uint32_t> places(paths_.size(), kNone);
  tree.nodes.reserve(paths_.size() - 1);
  for (const std::uint32_t path : profile::in_preorder(paths_)) {
    const NodeId parent{places[paths_[path].parent]};
    places[path] = static_cast<std::uint32_t>(tree.nodes.size());
    const std::uint32_t depth = parent.defined() ? tree.nodes[parent.value()].depth + 1 : 0;
    tree.nodes.push_back({parent, RegionId{paths_[path].region}, depth, paths_[path].parameters});
  }
  return places;
}

}  // namespace timeloom::cube
