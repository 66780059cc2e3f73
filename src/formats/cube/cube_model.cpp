#include "formats/cube/cube_model.hpp"

#include <algorithm>

namespace timeloom::cube {

const std::string* find_attribute(const Attributes& attributes, std::string_view key) noexcept {
  const auto found = std::ranges::find(attributes, key, &Attribute::key);
  return found == attributes.end() ? nullptr : &found->value;
}

CubeMetricId find_metric(const Cube& cube, std::string_view unique_name) noexcept {
  const auto found = std::ranges::find(cube.metrics, unique_name, &Metric::unique_name);
  if (found == cube.metrics.end()) return {};
  return CubeMetricId{static_cast<std::uint32_t>(found - cube.metrics.begin())};
}

std::vector<CnodeId> wide_order(const Cube& cube) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  const auto count = static_cast<std::uint32_t>(cube.cnodes.size());
  std::vector<std::uint32_t> first_child(count, kNone);
  std::vector<std::uint32_t> next_sibling(count, kNone);
  std::vector<std::uint32_t> roots;
  for (std::uint32_t i = count; i-- > 0;) {
    const CnodeId parent = cube.cnodes[i].parent;
    if (!parent.defined()) {
      roots.push_back(i);
      continue;
    }
    next_sibling[i] = first_child[parent.value()];
    first_child[parent.value()] = i;
  }
  std::vector<CnodeId> order;
  order.reserve(count);
  // The nodes that still have to be expanded, the next one last. The loop replaces recursion
  // because call paths can be many thousand levels deep.
  std::vector<std::uint32_t> waiting;
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) {
    order.emplace_back(*root);
    waiting.push_back(*root);
    while (!waiting.empty()) {
      const std::uint32_t node = waiting.back();
      waiting.pop_back();
      const std::size_t begin = waiting.size();
      for (std::uint32_t child = first_child[node]; child != kNone; child = next_sibling[child]) {
        order.emplace_back(child);
        waiting.push_back(child);
      }
      std::reverse(waiting.begin() + static_cast<std::ptrdiff_t>(begin), waiting.end());
    }
  }
  return order;
}

}  // namespace timeloom::cube
