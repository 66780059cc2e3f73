// A hash table of numbers whose size is fixed, for code that may not allocate: it lies in static
// memory, of which only the pages in use are taken.
//
// Not synchronised; nothing throws. No key is 0.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace timeloom::preload {

template <unsigned kBits>
class FixedTable {
 public:
  // Three quarters of its slots are in use.
  bool is_full() const noexcept { return count_ >= kSlots / 4 * 3; }
  // Sets the value of a new key. False: the table is full.
  bool insert(std::uint64_t key, std::uint64_t value) noexcept {
    if (is_full()) return false;
    ++count_;
    slots_[place(key)] = {key, value};
    return true;
  }
  // nullptr: it is not here.
  const std::uint64_t* find(std::uint64_t key) const noexcept {
    const Slot& slot = slots_[place(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  // Removes the key. Entries behind it whose search would end at the free slot move there.
  void erase(std::uint64_t key) noexcept {
    std::size_t free = place(key);
    if (slots_[free].key != key) return;
    --count_;
    for (std::size_t i = next(free); slots_[i].key != 0; i = next(i)) {
      const std::size_t home = hash(slots_[i].key);
      if (((i - home) & kMask) < ((i - free) & kMask)) continue;
      slots_[free] = slots_[i];
      free = i;
    }
    slots_[free] = {};
  }
  // Gives the pages back, which are zero when they are used again.
  void clear() noexcept {
    if (count_ == 0) return;
    count_ = 0;
    (void)::madvise(slots_, sizeof slots_, MADV_DONTNEED);
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << kBits;
  static constexpr std::size_t kMask = kSlots - 1;
  struct Slot {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
  };
  static std::size_t hash(std::uint64_t key) noexcept {
    return (key * 0x9e3779b97f4a7c15u) >> (64 - kBits);
  }
  static std::size_t next(std::size_t slot) noexcept { return (slot + 1) & kMask; }
  // Where the key is, or would be.
  std::size_t place(std::uint64_t key) const noexcept {
    std::size_t at = hash(key);
    while (slots_[at].key != 0 && slots_[at].key != key) at = next(at);
    return at;
  }

  alignas(4096) Slot slots_[kSlots] = {};
  std::size_t count_ = 0;
};

}  // namespace timeloom::preload
