// A hash table from (parent node, region) to the child node.
//
// Owned by one thread. Open addressing with linear probing: look-ups are on the
// way of every event that leaves the beaten track.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace timeloom {

class ChildTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  ChildTable() : entries_(64) {}

  // The child, or kNone.
  std::uint32_t find(std::uint32_t parent, std::uint32_t region) const noexcept {
    return entries_[slot(entries_, parent, region)].node;
  }

  // The pair is not in the table yet.
  void insert(std::uint32_t parent, std::uint32_t region, std::uint32_t node) {
    if (++count_ * 3 > entries_.size() * 2) grow();
    entries_[slot(entries_, parent, region)] = {parent, region, node};
  }

 private:
  struct Entry {
    std::uint32_t parent = 0;
    std::uint32_t region = 0;
    std::uint32_t node = kNone;
  };

  // Where the pair is or belongs. The size is a power of two and a third of
  // the entries are free, so the search ends.
  static std::size_t slot(const std::vector<Entry>& entries, std::uint32_t parent,
                          std::uint32_t region) noexcept {
    const std::size_t mask = entries.size() - 1;
    // The upper half of the product depends on every bit of both numbers.
    const std::uint64_t key = std::uint64_t{parent} * 0xff51afd7u + region;
    std::size_t i = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 32) & mask;
    while (entries[i].node != kNone &&
           (entries[i].parent != parent || entries[i].region != region)) {
      i = (i + 1) & mask;
    }
    return i;
  }

  void grow() {
    std::vector<Entry> larger(entries_.size() * 2);
    for (const Entry& entry : entries_) {
      if (entry.node != kNone) larger[slot(larger, entry.parent, entry.region)] = entry;
    }
    entries_ = std::move(larger);
  }

  std::vector<Entry> entries_;
  std::size_t count_ = 0;
};

}  // namespace timeloom
