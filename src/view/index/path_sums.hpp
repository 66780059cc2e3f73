// Sums over some blocks of a track by call path, in memory and as a list in the file.
//
// Used by one thread. A list holds the nodes that were touched, ascending, each as varints:
//   (node - the one before, or the node itself) * 4 + form, own
//   form & 2: the part of own that was waiting, more than 0; or 0, a byte with a bit for each cause
//       of the waiting, and the ticks of each, by ascending WaitingCause
//   form & 1: one call was entered, and one was left; its duration. Otherwise enters, leaves, and
//       where there are leaves: shortest, longest - shortest
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "view/index/index_bytes.hpp"
#include "view/index/waited.hpp"

namespace timeloom::view {

struct PathSum {
  std::uint64_t own = 0;      // ticks in which it was the innermost
  std::uint64_t waiting = 0;  // of these: the thread did not run
  CauseTicks causes{};        // parts of `waiting`, which they add up to
  std::uint64_t enters = 0;   // calls that started here
  std::uint64_t leaves = 0;   // calls that ended here, with their whole duration in min and max
  std::uint64_t min = UINT64_MAX;
  std::uint64_t max = 0;

  void add_leave(std::uint64_t duration) noexcept {
    ++leaves;
    min = std::min(min, duration);
    max = std::max(max, duration);
  }
  void add_waiting(const CauseTicks& ticks) noexcept {
    waiting += total(ticks);
    add_causes(causes, ticks);
  }
  void add(const PathSum& other) noexcept {
    own += other.own;
    waiting += other.waiting;
    add_causes(causes, other.causes);
    enters += other.enters;
    leaves += other.leaves;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }
};

// Sums by node; few nodes are in use at a time.
class PathSums {
 public:
  // Makes room for nodes below `nodes`.
  void grow(std::size_t nodes) {
    sums_.resize(std::max(sums_.size(), nodes));
    used_.resize(sums_.size());
  }
  // REQUIRES: there is room for it.
  PathSum& of(std::uint32_t node) {
    if (!used_[node]) {
      used_[node] = true;
      nodes_.push_back(node);
    }
    return sums_[node];
  }
  // Unordered until write().
  const std::vector<std::uint32_t>& nodes() const noexcept { return nodes_; }
  void clear();
  // Appends the list, and sorts the nodes.
  void write(std::string& to);

 private:
  std::vector<PathSum> sums_;
  std::vector<bool> used_;
  std::vector<std::uint32_t> nodes_;
};

// The waiting of an entry in a list.
inline void read_waiting(ByteReader& in, PathSum& sum) {
  sum.waiting = sum.causes[0] = in.varint();
  if (sum.waiting > 0) return;
  const unsigned causes = in.byte();
  for (std::uint32_t i = 0; i < kWaitingCauses; ++i) {
    if ((causes >> i & 1) == 0) continue;
    sum.causes[i] = in.varint();
    if (sum.causes[i] > sum.own - sum.waiting) damaged();
    sum.waiting += sum.causes[i];
  }
}

// Calls take(node, sum) for each entry of a list. Throws Error where it is damaged.
template <typename Take>
void read_list(ByteReader in, std::size_t node_count, Take&& take) {
  std::uint64_t node = 0;
  for (bool first = true; !in.at_end(); first = false) {
    const std::uint64_t head = in.varint();
    if (!first && head < 4) damaged();
    node += head / 4;
    if (node >= node_count) damaged();
    PathSum sum;
    sum.own = in.varint();
    if ((head & 2) != 0) read_waiting(in, sum);
    if (sum.waiting > sum.own) damaged();
    if ((head & 1) != 0) {
      sum.enters = 1;
      sum.add_leave(in.varint());
    } else {
      sum.enters = in.varint();
      sum.leaves = in.varint();
      if (sum.leaves > 0) {
        sum.min = in.varint();
        sum.max = sum.min + in.varint();
      }
    }
    take(static_cast<std::uint32_t>(node), sum);
  }
}

}  // namespace timeloom::view
