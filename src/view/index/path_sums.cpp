#include "view/index/path_sums.hpp"

namespace timeloom::view {

void PathSums::clear() {
  for (const std::uint32_t node : nodes_) {
    sums_[node] = {};
    used_[node] = false;
  }
  nodes_.clear();
}

namespace {

void append_waiting(std::string& to, const PathSum& sum) {
  if (sum.waiting == sum.causes[0]) return append_varint(to, sum.waiting);
  unsigned causes = 0;
  for (std::uint32_t i = 0; i < kWaitingCauses; ++i) causes |= sum.causes[i] > 0 ? 1u << i : 0;
  to += '\0';
  to += static_cast<char>(causes);
  for (const std::uint64_t ticks : sum.causes) {
    if (ticks > 0) append_varint(to, ticks);
  }
}

}  // namespace

void PathSums::write(std::string& to) {
  std::ranges::sort(nodes_);
  std::uint32_t last = 0;
  for (const std::uint32_t node : nodes_) {
    const PathSum& sum = sums_[node];
    const bool one = sum.enters == 1 && sum.leaves == 1;
    append_varint(to, std::uint64_t{node - last} * 4 + (sum.waiting > 0 ? 2 : 0) + (one ? 1 : 0));
    append_varint(to, sum.own);
    if (sum.waiting > 0) append_waiting(to, sum);
    last = node;
    if (one) {
      append_varint(to, sum.min);
      continue;
    }
    append_varint(to, sum.enters);
    append_varint(to, sum.leaves);
    if (sum.leaves == 0) continue;
    append_varint(to, sum.min);
    append_varint(to, sum.max - sum.min);
  }
}

}  // namespace timeloom::view
