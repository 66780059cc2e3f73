// The pre-order of a tree whose nodes are numbered in order of their first visit.
//
// A plain function, for any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace timeloom::profile {

// The indices of `paths` without the first, in pre-order, children in order of their indices.
// Each path has the index of its `parent`, which is smaller; path 0 is the parent of the roots.
// Without recursion, since call paths can be many thousand levels deep.
template <typename Path>
std::vector<std::uint32_t> in_preorder(const std::vector<Path>& paths) {
  std::vector<std::uint32_t> first_child(paths.size(), 0);
  std::vector<std::uint32_t> next_sibling(paths.size(), 0);
  for (auto i = static_cast<std::uint32_t>(paths.size()) - 1; i > 0; --i) {
    next_sibling[i] = first_child[paths[i].parent];
    first_child[paths[i].parent] = i;
  }
  std::vector<std::uint32_t> order;
  order.reserve(paths.size() - 1);
  std::vector<std::uint32_t> waiting;
  if (first_child[0] != 0) waiting.push_back(first_child[0]);
  while (!waiting.empty()) {
    const std::uint32_t path = waiting.back();
    waiting.pop_back();
    order.push_back(path);
    if (next_sibling[path] != 0) waiting.push_back(next_sibling[path]);
    if (first_child[path] != 0) waiting.push_back(first_child[path]);
  }
  return order;
}

}  // namespace timeloom::profile
