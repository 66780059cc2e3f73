// The frees of blocks that are booked later: a thread that is inside the account already, in a
// handler of a fork or of a signal, cannot take its lock.
//
// Any thread may add; other functions need the lock of the account. Nothing is allocated or thrown.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace timeloom::preload {

class PendingFrees {
 public:
  static constexpr std::size_t kMost = 256;

  // Adds the free of a block. False: all kMost places are taken, and nothing was added. REQUIRES:
  // block > kTaken; called before the block can be allocated again.
  bool add(std::uint64_t block, std::uint64_t bytes) noexcept {
    for (Slot& slot : slots_) {
      std::uint64_t expected = kFree;
      if (slot.block.load(std::memory_order_relaxed) != kFree ||
          !slot.block.compare_exchange_strong(expected, kTaken, std::memory_order_acquire)) {
        continue;
      }
      slot.bytes.store(bytes, std::memory_order_relaxed);
      slot.block.store(block, std::memory_order_release);
      count_.fetch_add(1, std::memory_order_release);
      return true;
    }
    return false;
  }
  // Calls book(block, bytes) for each and forgets them. Takes a load where there are none.
  template <typename Book>
  void take(Book book) noexcept {
    if (count_.load(std::memory_order_acquire) == 0) [[likely]]
      return;
    for (Slot& slot : slots_) {
      const std::uint64_t block = slot.block.load(std::memory_order_acquire);
      if (block <= kTaken) continue;
      book(block, slot.bytes.load(std::memory_order_relaxed));
      slot.block.store(kFree, std::memory_order_release);
      count_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  // In the child of a fork also what another thread was adding.
  void clear() noexcept {
    for (Slot& slot : slots_) slot.block.store(kFree, std::memory_order_relaxed);
    count_.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kFree = 0, kTaken = 1;
  struct Slot {
    std::atomic<std::uint64_t> block;  // its address, kFree, or kTaken: it is being filled
    std::atomic<std::uint64_t> bytes;
  };
  Slot slots_[kMost] = {};
  std::atomic<std::uint32_t> count_ = 0;  // of filled slots
};

}  // namespace timeloom::preload
