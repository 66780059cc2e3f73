// The values of one metric of a CallTree, as rows of a CUBE profile.
//
// Constructed from a tree and a cube with all its call paths; both outlive it. Any thread may read.
// Counts from times without an open region belong to the artificial call path above the location's
// call paths. Throws only std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/cube/cube_model.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::cube {

// The call paths of the file that belong to a location.
struct PathsOfLocation {
  const std::vector<CnodeId>* of_nodes;  // undefined: the location has not visited the node
  CnodeId top;                           // above them
};

// Rows of a metric that is sampled at every enter and leave: inclusive values for counters,
// exclusive ones for other metrics.
class SampleRows {
 public:
  // `paths`: by location.
  SampleRows(const profile::CallTree& tree, MetricId metric, const Cube& cube,
             std::span<const PathsOfLocation> paths);

  std::size_t size() const noexcept { return values_.size(); }
  void fill(ValueType type, CnodeId cnode, std::span<std::byte> row) const;

 private:
  struct Value {
    CnodeId cnode;
    std::uint32_t location;
    std::uint64_t value;
  };

  std::vector<Value> values_;  // in order of call paths
};

// Rows of a counter: number of values, minimum, maximum, sum, and sum of squares.
class CounterRows {
 public:
  CounterRows(const profile::CallTree& tree, MetricId metric,
              std::span<const PathsOfLocation> paths);

  std::size_t size() const noexcept { return values_.size(); }
  void fill(ValueType type, CnodeId cnode, std::span<std::byte> row) const;

 private:
  struct Value {
    CnodeId cnode;
    std::uint32_t location;
    const profile::MetricStatistics* statistics;
  };

  std::vector<Value> values_;  // in order of call paths
};

}  // namespace timeloom::cube
