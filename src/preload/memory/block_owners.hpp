// The call path of each block that the process holds, by the address of the block: 8 bytes a slot,
// of which three quarters are in use at most. Once a part (below) has grown, that is 11 to 21 bytes
// a block; parts never shrink when blocks are freed.
//
// A table is cut into 256 parts, which grow one at a time: a part is copied while the caller waits,
// and only this part exists twice meanwhile. The memory comes from the system and is given back by
// clear(). Not synchronised; nothing throws, errno may change.
#pragma once

#include <sys/mman.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace timeloom::preload {

class BlockOwners {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // False: there is no memory, or no block can lie at the address. REQUIRES: path < 2^17.
  bool insert(std::uint64_t address, std::uint32_t path) noexcept {
    if (!can_hold(address)) return false;
    Part& part = parts_[part_of(address)];
    if (part.used >= part.slots / 4 * 3 && !grow(part)) return false;
    std::uint64_t& slot = part.at[place(part, address)];
    if (slot == 0) ++part.used;
    slot = word_of(address, path);
    return true;
  }

  // The path of a block that is freed; kNone: it is not here.
  std::uint32_t take(std::uint64_t address) noexcept {
    Part& part = parts_[part_of(address)];
    if (!can_hold(address) || part.used == 0) return kNone;
    std::size_t free = place(part, address);
    if (part.at[free] == 0) return kNone;
    const auto path = static_cast<std::uint32_t>(part.at[free] & kPathMask);
    --part.used;
    // Entries behind it whose search would end at the free slot move there.
    const std::size_t mask = part.slots - 1;
    for (std::size_t i = (free + 1) & mask; part.at[i] != 0; i = (i + 1) & mask) {
      const std::size_t home = home_of(part, address_in(part.at[i]));
      if (((i - home) & mask) < ((i - free) & mask)) continue;
      part.at[free] = part.at[i];
      free = i;
    }
    part.at[free] = 0;
    return path;
  }

  void clear() noexcept {
    for (Part& part : parts_) {
      if (part.at != nullptr) (void)::munmap(part.at, part.slots * sizeof(std::uint64_t));
      part = {};
    }
  }

 private:
  static constexpr unsigned kPartBits = 8, kPathBits = 17, kLeastAlignment = 3;
  static constexpr std::uint64_t kPathMask = (std::uint64_t{1} << kPathBits) - 1;
  static constexpr std::size_t kFirstSlots = 512;  // a page
  struct Part {
    std::uint64_t* at = nullptr;  // words of addresses and paths; 0: free
    std::size_t slots = 0;        // a power of two
    std::size_t used = 0;
  };

  static constexpr std::uint64_t word_of(std::uint64_t address, std::uint32_t path) noexcept {
    return address >> kLeastAlignment << kPathBits | path;
  }
  static constexpr std::uint64_t address_in(std::uint64_t word) noexcept {
    return word >> kPathBits << kLeastAlignment;
  }
  static constexpr bool can_hold(std::uint64_t address) noexcept {
    return address != 0 && address_in(word_of(address, 0)) == address;
  }
  static constexpr std::uint64_t hash(std::uint64_t address) noexcept {
    return address * 0x9e3779b97f4a7c15u;
  }
  static constexpr std::size_t part_of(std::uint64_t address) noexcept {
    return hash(address) >> (64 - kPartBits);
  }
  static std::size_t home_of(const Part& part, std::uint64_t address) noexcept {
    return hash(address) << kPartBits >> (64 - std::countr_zero(part.slots));
  }
  // Where the address is, or would be. REQUIRES: the part has a free slot.
  static std::size_t place(const Part& part, std::uint64_t address) noexcept {
    std::size_t at = home_of(part, address);
    while (part.at[at] != 0 && address_in(part.at[at]) != address) at = (at + 1) & (part.slots - 1);
    return at;
  }

  static bool grow(Part& part) noexcept {
    Part larger;
    larger.slots = part.slots == 0 ? kFirstSlots : 2 * part.slots;
    larger.used = part.used;
    void* const memory = ::mmap(nullptr, larger.slots * sizeof(std::uint64_t),
                                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    larger.at = static_cast<std::uint64_t*>(memory);
    for (std::size_t i = 0; i < part.slots; ++i) {
      const std::uint64_t word = part.at[i];
      if (word != 0) larger.at[place(larger, address_in(word))] = word;
    }
    const Part old = part;
    part = larger;  // first: a fork may copy this instant
    if (old.at != nullptr) (void)::munmap(old.at, old.slots * sizeof(std::uint64_t));
    return true;
  }

  Part parts_[std::size_t{1} << kPartBits] = {};
};

}  // namespace timeloom::preload
