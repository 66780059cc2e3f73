// The call paths of a run while its tracks are read: each (parent, region) once, with a number.
//
// Any thread may call child(). Their number is limited; beyond the limit, all further regions below
// a path share one path without a region. Numbers depend on the order in which threads ask,
// but for those that are taken over.
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

  // Paths that have their numbers already: those of an earlier index of the same run. REQUIRED
  // before child().
  void take_over(std::span<const PathRecord> known);
  // The path of `region` below `parent` (kNone: a root), or the one beyond the limit below it.
  // REQUIRES: `parent` has a region.
  std::uint32_t child(std::uint32_t parent, std::uint32_t region);
  // Whether a path that child() gave is one beyond the limit.
  bool is_beyond(std::uint32_t path);
  // REQUIRES: nobody calls child() any more.
  const std::vector<PathRecord>& records() const noexcept { return records_; }

 private:
  std::uint32_t add(std::uint32_t parent, std::uint32_t region);

  std::uint32_t most_;
  std::mutex mutex_;
  ChildTable children_;
  std::vector<PathRecord> records_;
};

}  // namespace timeloom::view
