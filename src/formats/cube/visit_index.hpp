// An index of the visits in a CallTree: the call paths that its CUBE profile has, and the locations
// with values there.
//
// Constructed from a tree, which must outlive it; any thread may read. Distinguishes first
// locations of processes from other locations, since the file has separate call paths for them.
// Throws only std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "profile/call_tree.hpp"

namespace timeloom::cube {

class VisitIndex {
 public:
  // A node whose cells each_cell() looks up.
  struct Wanted {
    profile::NodeId node;
    std::uint32_t row;
  };

  // `first`: for each location, whether it is the first of its process.
  VisitIndex(const profile::CallTree& tree, const std::vector<bool>& first);

  bool is_first(std::uint32_t location) const { return first_[location] != 0; }
  // True if a first location, or another one, visited the node or a node below it.
  bool visited(std::uint32_t node, bool first) const {
    return (first ? by_first_ : by_others_)[node] != 0;
  }
  // The time of the program itself, in ticks: for the first thread of a process from its first to
  // its last event, for other threads the time in regions.
  std::uint64_t whole_time(std::uint32_t location) const { return whole_time_[location]; }
  std::uint64_t cells() const noexcept { return cells_; }  // of all locations

  // Calls `take(row, statistics)` for each of the nodes, given in order, that have a cell on the
  // location.
  template <typename Take>
  void each_cell(std::uint32_t location, std::span<const Wanted> wanted, const Take& take) const {
    const auto& cells = tree_.locations[location].cells;
    auto cell = cells.begin();
    for (const Wanted& one : wanted) {
      cell = skip_to(cell, cells.end(), one.node);
      if (cell == cells.end()) return;
      if (cell->node == one.node) take(one.row, cell->statistics);
    }
  }

 private:
  // Finds the first cell of that node or a later one: mostly the next.
  template <typename Cells>
  static Cells skip_to(Cells cell, Cells end, profile::NodeId node) {
    for (std::ptrdiff_t step = 1; cell != end && cell->node < node; step *= 2) {
      if (end - cell <= step || !(cell[step].node < node)) {
        const Cells last = end - cell <= step ? end : cell + step;
        return std::lower_bound(cell + 1, last, node, [](const profile::Cell& one, auto wanted) {
          return one.node < wanted;
        });
      }
      cell += step;
    }
    return cell;
  }

  void add_cells(std::uint32_t location);
  void add_parents();

  const profile::CallTree& tree_;
  // char instead of bool: elements are read and set millions of times, and bools would share bytes.
  std::vector<char> first_;     // of locations
  std::vector<char> by_first_;  // of nodes
  std::vector<char> by_others_;
  std::vector<std::uint64_t> whole_time_;  // of locations
  std::uint64_t cells_ = 0;
};

}  // namespace timeloom::cube
