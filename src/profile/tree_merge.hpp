// Merges the trees of single locations into one, by call path.
//
// Used by one thread, at the end of a fold. Adding the locations in the order
// of their ids makes the result independent of which was folded first.
#pragma once

#include <cstddef>
#include <vector>

#include "core/child_table.hpp"
#include "profile/call_tree.hpp"
#include "profile/location_fold.hpp"

namespace timeloom::profile {

class TreeMerge {
 public:
  explicit TreeMerge(std::size_t locations) : profiles_(locations) {}

  // Adds location number `index`; it is used up so that memory does not double.
  void add(std::size_t index, FoldedLocation&& location);
  // Moves nodes and locations into `tree`.
  void finish(CallTree& tree);

 private:
  struct Path {
    std::uint32_t parent;
    std::uint64_t region;
  };

  std::uint32_t child_of(std::uint32_t parent, std::uint64_t region);
  std::vector<std::uint32_t> place_in_preorder(CallTree& tree) const;

  std::vector<Path> paths_ = {{0, kNoRegion}};  // parents first; 0 is above the roots
  ChildTable children_;
  std::vector<LocationProfile> profiles_;
};

}  // namespace timeloom::profile
