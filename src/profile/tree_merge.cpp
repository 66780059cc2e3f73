#include "profile/tree_merge.hpp"

#include <algorithm>

namespace timeloom::profile {

void TreeMerge::add(std::size_t index, FoldedLocation&& location) {
  LocationProfile& profile = profiles_[index];
  profile.first = location.first;
  profile.last = location.last;
  if (location.nodes.empty()) return;
  profile.cells.reserve(location.nodes.size() - 1);
  std::vector<std::uint32_t> merged(location.nodes.size());
  for (std::size_t i = 1; i < location.nodes.size(); ++i) {
    const FoldedNode& node = location.nodes[i];
    merged[i] = child_of(merged[node.parent], node.region);
    profile.cells.push_back({NodeId{merged[i]}, node.statistics});
  }
  location = {};
}

std::uint32_t TreeMerge::child_of(std::uint32_t parent, std::uint64_t region) {
  const auto key = static_cast<std::uint32_t>(std::min<std::uint64_t>(region, UINT32_MAX));
  std::uint32_t child = children_.find(parent, key);
  if (child == ChildTable::kNone) {
    child = static_cast<std::uint32_t>(paths_.size());
    paths_.push_back({parent, region});
    children_.insert(parent, key, child);
  }
  return child;
}

void TreeMerge::finish(CallTree& tree) {
  const std::vector<std::uint32_t> place = place_in_preorder(tree);
  for (LocationProfile& profile : profiles_) {
    for (Cell& cell : profile.cells) cell.node = NodeId{place[cell.node.value()]};
    std::sort(profile.cells.begin(), profile.cells.end(),
              [](const Cell& a, const Cell& b) { return a.node < b.node; });
  }
  tree.locations = std::move(profiles_);
}

// Fills tree.nodes and returns where each path went. Without recursion, since
// call paths can be many thousand levels deep.
std::vector<std::uint32_t> TreeMerge::place_in_preorder(CallTree& tree) const {
  std::vector<std::uint32_t> first_child(paths_.size(), 0);
  std::vector<std::uint32_t> next_sibling(paths_.size(), 0);
  for (auto i = static_cast<std::uint32_t>(paths_.size()) - 1; i > 0; --i) {
    next_sibling[i] = first_child[paths_[i].parent];
    first_child[paths_[i].parent] = i;
  }
  std::vector<std::uint32_t> place(paths_.size(), NodeId{}.value());
  std::vector<std::uint32_t> waiting;
  if (first_child[0] != 0) waiting.push_back(first_child[0]);
  tree.nodes.reserve(paths_.size() - 1);
  while (!waiting.empty()) {
    const std::uint32_t path = waiting.back();
    waiting.pop_back();
    if (next_sibling[path] != 0) waiting.push_back(next_sibling[path]);
    if (first_child[path] != 0) waiting.push_back(first_child[path]);
    const NodeId parent{place[paths_[path].parent]};
    place[path] = static_cast<std::uint32_t>(tree.nodes.size());
    const RegionId region = paths_[path].region == kNoRegion
                                ? RegionId{}
                                : RegionId{static_cast<std::uint32_t>(paths_[path].region)};
    tree.nodes.push_back(
        {parent, region, parent.defined() ? tree.nodes[parent.value()].depth + 1 : 0});
  }
  return place;
}

}  // namespace timeloom::profile
