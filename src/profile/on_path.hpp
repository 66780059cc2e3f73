// Counts how often each region occurs on the path from a root to the current call path, while call
// paths are visited in pre-order. With it the time of recursive calls is not counted twice.
//
// A plain value. Used by one thread; throws nothing but std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace timeloom::profile {

class RegionsOnPath {
 public:
  // Goes on to the next node; true if its region does not occur among its ancestors.
  bool enter(std::size_t region, std::uint32_t depth) {
    while (path_.size() > depth) {
      --occurrences_[path_.back()];
      path_.pop_back();
    }
    path_.push_back(region);
    if (region >= occurrences_.size()) occurrences_.resize(region + 1);
    return occurrences_[region]++ == 0;
  }

 private:
  std::vector<std::uint32_t> occurrences_;
  std::vector<std::size_t> path_;
};

}  // namespace timeloom::profile
