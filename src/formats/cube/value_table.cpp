#include "formats/cube/value_table.hpp"

#include <cstring>
#include <utility>

namespace timeloom::cube {

namespace {

bool is_double(ValueType type) noexcept {
  return type.type == DataType::kDouble || type.type == DataType::kMinDouble ||
         type.type == DataType::kMaxDouble;
}

}  // namespace

ValueTable::ValueTable(const Reader& reader, CubeMetricId metric, MetricKind wanted)
    : values_(reader.values(metric)), locations_(reader.cube().locations.size()) {
  if (reader.cube().metrics[metric.value()].kind != wanted) convert(reader.cube(), wanted);
}

void ValueTable::get(CnodeId cnode, std::uint32_t first, std::span<double> values) const {
  const auto [type, from] = place_of(cnode, first);
  if (is_double(type)) {
    std::memcpy(values.data(), from, values.size_bytes());
    return;
  }
  const std::size_t size = type.size();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = to_double(type, from + i * size);
}

bool ValueTable::get(CnodeId cnode, std::uint32_t first, std::span<std::uint64_t> counts) const {
  const auto [type, from] = place_of(cnode, first);
  if (type.type == DataType::kUint64) {
    std::memcpy(counts.data(), from, counts.size_bytes());
    return true;
  }
  const std::size_t size = type.size();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!to_count(type, from + i * size, counts[i])) return false;
  }
  return true;
}

ValueTable::Place ValueTable::place_of(CnodeId cnode, std::uint32_t location) const noexcept {
  if (converted_.empty()) {
    const ValueType type = values_.type();
    return {type, values_.row(cnode).data() + location * type.size()};
  }
  const double* from = &converted_[cnode.value() * locations_ + location];
  return {{DataType::kDouble, 1}, reinterpret_cast<const std::byte*>(from)};
}

// Sums go from the leaves up and differences from the roots down, so that the value added or
// subtracted is always the inclusive one.
void ValueTable::convert(const Cube& cube, MetricKind wanted) {
  const auto count = static_cast<std::uint32_t>(cube.cnodes.size());
  std::vector<double> all(count * locations_);
  for (std::uint32_t i = 0; i < count; ++i) {
    get(CnodeId{i}, 0, std::span(all).subspan(i * locations_, locations_));
  }
  const bool sum = wanted == MetricKind::kInclusive;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t child = sum ? count - 1 - i : i;
    const CnodeId parent = cube.cnodes[child].parent;
    if (!parent.defined()) continue;
    for (std::size_t j = 0; j < locations_; ++j) {
      const double part = all[child * locations_ + j];
      all[parent.value() * locations_ + j] += sum ? part : -part;
    }
  }
  converted_ = std::move(all);
}

}  // namespace timeloom::cube
