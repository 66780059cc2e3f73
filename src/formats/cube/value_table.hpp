// The values of one metric as numbers, row by row.
//
// Owns them; read by any thread. Made by reading a file: throws Error.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/cube/cube.hpp"

namespace timeloom::cube {

class ValueTable {
 public:
  // Values as a metric of the kind `wanted` has them: inclusive or exclusive.
  ValueTable(const Reader& reader, CubeMetricId metric, MetricKind wanted);

  // The file has no row for the call path.
  bool empty_row(CnodeId cnode) const { return converted_.empty() && !values_.has_row(cnode); }
  // Fills `values` with those of as many locations, the first of them `first`.
  void get(CnodeId cnode, std::uint32_t first, std::span<double> values) const;
  // The same as counts; false when one of them is none, see to_count().
  bool get(CnodeId cnode, std::uint32_t first, std::span<std::uint64_t> counts) const;

 private:
  struct Place {  // of a value and those that follow
    ValueType type;
    const std::byte* bytes;
  };
  Place place_of(CnodeId cnode, std::uint32_t location) const noexcept;
  void convert(const Cube& cube, MetricKind wanted);

  Values values_;
  std::size_t locations_;
  std::vector<double> converted_;  // empty: they are as wanted
};

}  // namespace timeloom::cube
