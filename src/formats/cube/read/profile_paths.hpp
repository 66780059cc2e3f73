// Maps the call paths of a CUBE profile to nodes of a CallTree.
//
// Built while reading; used by one thread. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/child_table.hpp"
#include "formats/cube/cube_model.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::cube {

// The role of a file's call path in the CallTree.
enum class Fate : std::uint8_t {
  kKept,
  kLifted,   // removed: its children belong to its parent, its own values are dropped
  kCounted,  // like kLifted, but its visits count for its parent: an execution of a dynamic region
};

// Joins call paths with the same region, parameters and parent, and numbers them in pre-order.
class CallPaths {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit CallPaths(const Cube& cube);

  // The node of each call path. A lifted one has the node of its parent; kNone above the roots.
  const std::vector<std::uint32_t>& nodes() const noexcept { return nodes_; }
  Fate fate(CnodeId cnode) const { return fates_[cnode.value()]; }

  // Fills nodes and parameters of the tree. REQUIRES: called once, before nodes().
  void finish(profile::CallTree& tree);

 private:
  struct Path {
    std::uint32_t parent;
    std::uint32_t region;  // kNone: the call paths beyond a limit
    profile::ParameterSetId parameters;
  };

  void add(std::uint32_t index);
  profile::ParameterSetId set_of(const Cnode& cnode);
  std::uint32_t key_of(std::uint32_t region, profile::ParameterSetId parameters);
  std::vector<std::uint32_t> place_in_preorder(profile::CallTree& tree) const;

  const Cube& cube_;
  std::vector<RegionId> regions_;               // by region of the file: Timeloom's
  std::vector<Path> paths_ = {{0, kNone, {}}};  // 0 is above the roots
  std::map<profile::ParameterSet, std::uint32_t> sets_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> keys_;
  ChildTable children_;
  std::vector<std::uint32_t> nodes_;  // of cnodes
  std::vector<Fate> fates_;           // of cnodes
};

}  // namespace timeloom::cube
