// How often each region occurs on the path from a root to a call path, while those go by in
// pre-order: by it the time of recursive calls is not counted twice.
//
// A plain value. Used by one thread; throws what memory can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace timeloom::profile {

class RegionsOnPath {
 public:
  // Moves on to the next node; true if its region, any number, is not on its path yet.
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
