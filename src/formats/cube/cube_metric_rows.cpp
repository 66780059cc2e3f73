#include "formats/cube/cube_metric_rows.hpp"

#include <algorithm>
#include <cstring>

namespace timeloom::cube {

namespace {

// The values, sorted by `member`, whose `member` equals `key`.
template <typename Value, typename Key>
std::span<const Value> equal_to(const std::vector<Value>& values, Key key, Key Value::*member) {
  const auto begin = std::ranges::lower_bound(values, key, {}, member);
  return {begin, std::ranges::upper_bound(begin, values.end(), key, {}, member)};
}

}  // namespace

SampleRows::SampleRows(const profile::CallTree& tree, MetricId metric, const Cube& cube,
                       std::span<const PathsOfLocation> paths) {
  const bool counts = tree.definitions.metrics[metric.value()].counts();
  std::vector<std::uint64_t> sums(cube.cnodes.size());
  for (std::uint32_t i = 0; i < tree.locations.size(); ++i) {
    const auto cells = equal_to(tree.locations[i].samples, metric, &profile::SampleCell::metric);
    if (cells.empty()) continue;
    std::ranges::fill(sums, 0);
    for (const profile::SampleCell& cell : cells) {
      const CnodeId cnode =
          cell.node.defined() ? (*paths[i].of_nodes)[cell.node.value()] : paths[i].top;
      sums[cnode.value()] = cell.value;
    }
    // Parents precede their children.
    for (auto j = static_cast<std::uint32_t>(sums.size()); j-- > 0;) {
      if (sums[j] == 0) continue;
      const CnodeId parent = cube.cnodes[j].parent;
      if (counts && parent.defined()) sums[parent.value()] += sums[j];
      values_.push_back({CnodeId{j}, i, sums[j]});
    }
  }
  std::ranges::stable_sort(values_, {}, &Value::cnode);
}

// 0 where there is no value, even for a maximum: other readers would take the smallest double for a
// value.
void SampleRows::fill(ValueType type, CnodeId cnode, std::span<std::byte> row) const {
  std::ranges::fill(row, std::byte{0});
  for (const Value& one : equal_to(values_, cnode, &Value::cnode)) {
    const auto real = static_cast<double>(one.value);
    const void* from =
        type.type == DataType::kUint64 ? static_cast<const void*>(&one.value) : &real;
    std::memcpy(row.data() + std::size_t{one.location} * 8, from, 8);
  }
}

CounterRows::CounterRows(const profile::CallTree& tree, MetricId metric,
                         std::span<const PathsOfLocation> paths) {
  for (std::uint32_t i = 0; i < tree.locations.size(); ++i) {
    for (const profile::MetricCell& cell :
         equal_to(tree.locations[i].metrics, metric, &profile::MetricCell::metric)) {
      const CnodeId cnode = (*paths[i].of_nodes)[cell.node.value()];
      if (cnode.defined()) values_.push_back({cnode, i, &cell.statistics});
    }
    for (const profile::OutsideCell& cell :
         equal_to(tree.locations[i].outside, metric, &profile::OutsideCell::metric)) {
      values_.push_back({paths[i].top, i, &cell.statistics});
    }
  }
  std::ranges::stable_sort(values_, {}, &Value::cnode);
}

void CounterRows::fill(ValueType type, CnodeId cnode, std::span<std::byte> row) const {
  if (type.type == DataType::kMaxDouble) {
    std::ranges::fill(row, std::byte{0});  // see SampleRows::fill()
  } else {
    fill_neutral(type, row);
  }
  for (const Value& one : equal_to(values_, cnode, &Value::cnode)) {
    const profile::MetricStatistics& from = *one.statistics;
    if (type.type == DataType::kDouble) {  // the time of samples
      const double seconds = from.sum * 1e-9;
      std::memcpy(row.data() + one.location * sizeof seconds, &seconds, sizeof seconds);
      continue;
    }
    if (type.type == DataType::kUint64) {
      const auto sum = static_cast<std::uint64_t>(from.sum);
      std::memcpy(row.data() + one.location * sizeof sum, &sum, sizeof sum);
      continue;
    }
    if (type.type == DataType::kMaxDouble) {
      std::memcpy(row.data() + one.location * sizeof from.max, &from.max, sizeof from.max);
      continue;
    }
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(from.count, UINT32_MAX));
    std::byte* to = row.data() + one.location * type.size();
    std::memcpy(to, &count, sizeof count);
    const double values[] = {from.min, from.max, from.sum, from.squares};
    std::memcpy(to + sizeof count, values, sizeof values);
  }
}

}  // namespace timeloom::cube
