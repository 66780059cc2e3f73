// The call path of a thread, found from its open regions.
//
// Used by its own thread; nothing throws or allocates. find() compares the open regions with the
// regions of the call before, and asks only for the paths of the ones that differ.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "record/open_stack.hpp"

namespace timeloom::preload {

class ThreadPaths {
 public:
  // Deeper regions count for the one at this level.
  static constexpr std::size_t kLevels = 4096;

  // Starts anew: outside all regions the path is `root`.
  void begin(std::uint32_t root) noexcept {
    root_ = root, known_ = 0;
    for (PythonChild& one : children_) one = {};
  }

  // The path of these regions, outermost first. `child(path, region)` returns the path of a region
  // that is entered in `path`.
  template <typename Child>
  std::uint32_t find(std::span<const record::OpenRegion> regions, Child child) noexcept {
    const std::size_t depth = std::min(regions.size(), kLevels);
    std::size_t level = 0;
    while (level < depth && level < known_ && keys_[level] == key(regions[level])) ++level;
    if (level < depth) {
      for (; level < depth; ++level) {
        const std::uint64_t region = key(regions[level]);
        const std::uint32_t around = level == 0 ? root_ : paths_[level - 1];
        keys_[level] = region;
        paths_[level] =
            region == 0 ? around : child(around, static_cast<std::uint32_t>(region - 1));
      }
      known_ = depth;
    }
    return depth == 0 ? root_ : paths_[depth - 1];
  }

  // The path for the blocks of Python's own allocators inside `path`. `make` finds it if it is not
  // the last one in its place of the table. REQUIRES: `path` is not one of the constant paths of
  // the memory file.
  template <typename Make>
  std::uint32_t python_child(std::uint32_t path, Make make) noexcept {
    PythonChild& known = children_[path % kChildren];
    if (known.path != path) known = {path, make()};
    return known.child;
  }

 private:
  struct PythonChild {
    std::uint32_t path = 0, child = 0;
  };
  static constexpr std::size_t kChildren = 256;

  // The region, from 1 on; 0: the call is not recorded.
  static std::uint64_t key(const record::OpenRegion& open) noexcept {
    const bool recorded =
        (open.token & record::kUnrecorded) == 0 && open.token != record::kEndedUnseen;
    return recorded ? payload_of(open.enter) + 1 : 0;
  }

  PythonChild children_[kChildren] = {};
  std::uint32_t root_ = 0;
  std::size_t known_ = 0;  // levels of the last look that went deepest
  std::uint64_t keys_[kLevels] = {};
  std::uint32_t paths_[kLevels] = {};
};

}  // namespace timeloom::preload
