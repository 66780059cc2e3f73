#include "view/path_sums.hpp"

namespace timeloom::view {

void PathSums::clear() {
  for (const std::uint32_t node : nodes_) {
    sums_[node] = {};
    used_[node] = false;
  }
  nodes_.clear();
}

void PathSums::write(std::string& to) {
  std::ranges::sort(nodes_);
  std::uint32_t last = 0;
  for (const std::uint32_t node : nodes_) {
    const PathSum& sum = sums_[node];
    const std::uint64_t step = std::uint64_t{node - last} * 2;
    last = node;
    if (sum.enters == 1 && sum.leaves == 1) {
      append_varint(to, step + 1);
      append_varint(to, sum.own);
      append_varint(to, sum.min);
      continue;
    }
    append_varint(to, step);
    append_varint(to, sum.own);
    append_varint(to, sum.enters);
    append_varint(to, sum.leaves);
    if (sum.leaves == 0) continue;
    append_varint(to, sum.min);
    append_varint(to, sum.max - sum.min);
  }
}

}  // namespace timeloom::view
