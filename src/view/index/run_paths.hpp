// The call paths of a run while its tracks are read: each (parent, region) once, with a number.
//
// Any thread may call child(). The number of paths is limited; beyond the limit, all further
// regions below a path share one path without a region. Numbers depend on the order in which
// threads ask, except for paths taken over. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "core/child_table.hpp"
#include "view/index/index_format.hpp"

namespace timeloom::view {

class RunPaths {
 public:
  static constexpr std::uint32_t kMost = 1 << 20;

  explicit RunPaths(std::uint32_t most = kMost) : most_(most) {}

  // Adds the paths of an earlier index of the same run, with their numbers. REQUIRES: called before
  // child().
  void take_over(std::span<const PathRecord> known);
  // The path of `region` below `parent` (kNone: a root), or the path beyond the limit below it.
  // REQUIRES: `parent` has a region.
  std::uint32_t child(std::uint32_t parent, std::uint32_t region);
  // True if a path from child() is one beyond the limit.
  bool is_beyond(std::uint32_t path);
  // REQUIRES: no thread calls child() any more.
  const std::vector<PathRecord>& records() const noexcept { return records_; }

 private:
  std::uint32_t add(std::uint32_t parent, std::uint32_t region);

  std::uint32_t most_;
  std::mutex mutex_;
  ChildTable children_;
  std::vector<PathRecord> records_;
};

}  // namespace timeloom::view
