// Folds the events of one location into a tree of its call paths.
//
// Used by one thread. An event costs a comparison with the child that was
// entered last, or else one look-up in a hash table. Throws Error when enter
// and leave do not balance, when time runs backwards or a region is unknown.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/child_table.hpp"
#include "core/event.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::profile {

// Of node 0 and of the nodes beyond the limit. No region of an event equals it.
inline constexpr std::uint64_t kNoRegion = std::uint64_t{1} << 32;

// A call path of one location. Node 0 stands above the roots.
struct FoldedNode {
  Statistics statistics;
  std::uint64_t region = kNoRegion;
  std::uint32_t parent = 0;
  std::uint32_t last_child = 0;  // the child entered last; 0: none yet
};

// The result; parents before children, children in order of their first visit.
struct FoldedLocation {
  std::vector<FoldedNode> nodes;
  std::uint64_t events = 0;
  Timestamp first{};
  Timestamp last{};
};

// The call paths that all locations of a run may have together. Any thread may
// take one.
class NodeBudget {
 public:
  explicit NodeBudget(std::uint32_t nodes) noexcept : left_(nodes) {}
  bool take() noexcept { return left_.fetch_sub(1, std::memory_order_relaxed) > 0; }

 private:
  std::atomic<std::int64_t> left_;  // far below 0 when more was asked for
};

class LocationFold {
 public:
  // Call paths beyond the first `own_nodes` are taken from `budget`, which lives
  // as long as the fold.
  LocationFold(std::string location_name, std::size_t regions, std::uint32_t own_nodes,
               NodeBudget& budget);

  void consume(std::span<const Event> events);
  // The result, when all events have been consumed.
  FoldedLocation finish();

 private:
  struct Frame {
    std::uint64_t entered;
    std::uint32_t node;
  };

  void enter(std::uint32_t region, std::uint64_t time);
  void leave(std::uint32_t region, std::uint64_t time);
  std::uint32_t child_of(std::uint32_t node, std::uint32_t region);
  bool take_node() noexcept;
  std::uint32_t add_child(std::uint32_t node, std::uint64_t region);
  bool beyond_limit(std::uint32_t node) const noexcept {
    return node != 0 && folded_.nodes[node].region == kNoRegion;
  }
  void check_leave(std::uint32_t region, std::uint64_t time) const;
  [[noreturn]] void fail(const std::string& what) const;

  FoldedLocation folded_;
  std::vector<Frame> stack_;  // its first frame is node 0 and stays
  ChildTable children_;
  std::string location_name_;
  std::size_t regions_;
  std::uint32_t own_nodes_;  // not used yet
  NodeBudget* budget_;
};

}  // namespace timeloom::profile
