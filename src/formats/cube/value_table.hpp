// The values of one metric as numbers, row by row.
//
// Owns the values; any thread may read. The constructor reads a file and throws Error.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/cube/cube.hpp"

namespace timeloom::cube {

class ValueTable {
 public:
  // Converts the values to the kind `wanted`: inclusive or exclusive.
  ValueTable(const Reader& reader, CubeMetricId metric, MetricKind wanted);

  // True if the file has no row for the call path.
  bool empty_row(CnodeId cnode) const { return converted_.empty() && !values_.has_row(cnode); }
  // Fills `values` for consecutive locations, starting with `first`.
  void get(CnodeId cnode, std::uint32_t first, std::span<double> values) const;
  // The same as counts; false if a value is not a count, see to_count().
  bool get(CnodeId cnode, std::uint32_t first, std::span<std::uint64_t> counts) const;

 private:
  struct Place {  // the position of a value
    ValueType type;
    const std::byte* bytes;
  };
  Place place_of(CnodeId cnode, std::uint32_t location) const noexcept;
  void convert(const Cube& cube, MetricKind wanted);

  Values values_;
  std::size_t locations_;
  std::vector<double> converted_;  // empty: the file's values are of the wanted kind
};

}  // namespace timeloom::cube
