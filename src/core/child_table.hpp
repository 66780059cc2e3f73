// A hash table from (parent node, region) to the child node.
//
// Owned by one thread. Every event that does not repeat the call before it needs a look-up, so the
// entries lie in buckets of one cache line. A child is in its parent's bucket, which parents with
// adjacent numbers share, since programs often go from one to the next. If that bucket is full, the
// child is in the first bucket with space, starting from the bucket given by the pair's hash.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace timeloom {

class ChildTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

 private:
  struct Entry {
    std::uint32_t parent = 0;
    std::uint32_t region = 0;
    std::uint32_t node = kNone;
  };
  static constexpr std::size_t kEntries = 5;
  // Entries are filled in order.
  struct alignas(64) Bucket {
    std::array<Entry, kEntries> entries;
  };
  static_assert(sizeof(Bucket) == 64);

  // The pair's entry, or the first free one; nullptr: the pair is not here, and no entry is free.
  template <typename AnyBucket>
  static auto* entry_in(AnyBucket& bucket, std::uint32_t parent, std::uint32_t region) noexcept {
    for (auto& entry : bucket.entries) {
      if ((entry.parent == parent && entry.region == region) || entry.node == kNone) return &entry;
    }
    return decltype(&bucket.entries[0]){nullptr};
  }

  // The entry that holds the pair or is to hold it. The number of buckets is a power of two and a
  // third of the entries are free, so the search ends.
  template <typename Buckets>
  static auto& slot(Buckets& buckets, std::uint32_t parent, std::uint32_t region) noexcept {
    constexpr int kNeighbours = 2;  // bits
    const std::size_t mask = buckets.size() - 1;
    if (auto* const entry = entry_in(buckets[(parent >> kNeighbours) & mask], parent, region)) {
      return *entry;
    }
    // The upper half of the product depends on every bit of both numbers.
    const std::uint64_t key = std::uint64_t{parent} * 0xff51afd7u + region;
    std::size_t i = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 32);
    for (;; ++i) {
      if (auto* const entry = entry_in(buckets[i & mask], parent, region)) return *entry;
    }
  }

 public:
  ChildTable() : buckets_(16) {}

  // The child, or kNone.
  std::uint32_t find(std::uint32_t parent, std::uint32_t region) const noexcept {
    return slot(buckets_, parent, region).node;
  }

  // The pair is not in the table yet.
  void insert(std::uint32_t parent, std::uint32_t region, std::uint32_t node) {
    if (++count_ * 3 > buckets_.size() * kEntries * 2) grow();
    slot(buckets_, parent, region) = {parent, region, node};
  }

 private:
  void grow() {
    std::vector<Bucket> larger(buckets_.size() * 2);
    for (const Bucket& bucket : buckets_) {
      for (const Entry& entry : bucket.entries) {
        if (entry.node != kNone) slot(larger, entry.parent, entry.region) = entry;
      }
    }
    buckets_ = std::move(larger);
  }

  std::vector<Bucket> buckets_;
  std::size_t count_ = 0;
};

}  // namespace timeloom
