// The values of one sampled metric of a CallTree, as rows of a CUBE profile.
//
// Made from a tree and a cube whose call paths are complete; both outlive it. Read by any
// thread. What was counted while no region was open belongs to the artificial call path
// that stands above those of the location.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/cube/model.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::cube {

// The call paths of the file that belong to a location.
struct PathsOfLocation {
  const std::vector<CnodeId>* of_nodes;  // undefined: the location has not been there
  CnodeId top;                           // above them
};

class SampleRows {
 public:
  // `paths`: by location. Metrics that count are inclusive, others exclusive.
  SampleRows(const profile::CallTree& tree, MetricId metric, const Cube& cube,
             std::span<const PathsOfLocation> paths);

  const std::vector<CnodeId>& cnodes() const noexcept { return cnodes_; }  // with a row
  void fill(ValueType type, CnodeId cnode, std::span<std::byte> row) const;

 private:
  struct Value {
    CnodeId cnode;
    std::uint32_t location;
    std::uint64_t value;
  };

  std::vector<Value> values_;  // in order of call paths
  std::vector<CnodeId> cnodes_;
};

}  // namespace timeloom::cube
