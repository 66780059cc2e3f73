#include "formats/cube/sample_rows.hpp"

#include <algorithm>
#include <cstring>

namespace timeloom::cube {

SampleRows::SampleRows(const profile::CallTree& tree, MetricId metric, const Cube& cube,
                       std::span<const PathsOfLocation> paths) {
  const bool counts = tree.definitions.metrics[metric.value()].counts();
  std::vector<std::uint64_t> sums(cube.cnodes.size());
  for (std::uint32_t i = 0; i < tree.locations.size(); ++i) {
    const auto cells = std::ranges::equal_range(tree.locations[i].samples, metric, {},
                                                &profile::SampleCell::metric);
    if (cells.empty()) continue;
    std::ranges::fill(sums, 0);
    for (const profile::SampleCell& cell : cells) {
      const CnodeId cnode =
          cell.node.defined() ? (*paths[i].of_nodes)[cell.node.value()] : paths[i].top;
      sums[cnode.value()] = cell.value;
    }
    // Parents come before their children.
    for (auto j = static_cast<std::uint32_t>(sums.size()); j-- > 0;) {
      if (sums[j] == 0) continue;
      const CnodeId parent = cube.cnodes[j].parent;
      if (counts && parent.defined()) sums[parent.value()] += sums[j];
      values_.push_back({CnodeId{j}, i, sums[j]});
    }
  }
  std::ranges::stable_sort(values_, {}, &Value::cnode);
  for (const Value& one : values_) {
    if (cnodes_.empty() || cnodes_.back() != one.cnode) cnodes_.push_back(one.cnode);
  }
}

void SampleRows::fill(ValueType type, CnodeId cnode, std::span<std::byte> row) const {
  fill_neutral(type, row);
  for (const Value& one : std::ranges::equal_range(values_, cnode, {}, &Value::cnode)) {
    const auto real = static_cast<double>(one.value);
    const void* from =
        type.type == DataType::kUint64 ? static_cast<const void*>(&one.value) : &real;
    std::memcpy(row.data() + std::size_t{one.location} * 8, from, 8);
  }
}

}  // namespace timeloom::cube
