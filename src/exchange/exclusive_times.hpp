// The exclusive time of each call path of a location.
//
// Used by one thread. Only the constructor throws (std::bad_alloc), and for_each() what take()
// throws; the object cannot be used after that.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/call_tree.hpp"

namespace timeloom::exchange {

class ExclusiveTimes {
 public:
  // `tree` outlives it.
  explicit ExclusiveTimes(const profile::CallTree& tree) : tree_(tree), of_(tree.nodes.size()) {}

  // Calls take(cell, exclusive) for each cell, in ticks. The work grows with the cells of the
  // location, not with the call paths of the run.
  template <typename Take>
  void for_each(const profile::LocationProfile& location, const Take& take) {
    for (const profile::Cell& cell : location.cells) {
      of_[cell.node.value()] += cell.statistics.inclusive;
      const profile::NodeId parent = tree_.nodes[cell.node.value()].parent;
      if (parent.defined()) of_[parent.value()] -= cell.statistics.inclusive;
    }
    for (const profile::Cell& cell : location.cells) take(cell, of_[cell.node.value()]);
    for (const profile::Cell& cell : location.cells) {
      of_[cell.node.value()] = 0;
      const profile::NodeId parent = tree_.nodes[cell.node.value()].parent;
      if (parent.defined()) of_[parent.value()] = 0;
    }
  }

 private:
  const profile::CallTree& tree_;
  std::vector<std::uint64_t> of_;  // by node
};

}  // namespace timeloom::exchange
