// The words of functions of compiled code, by the address of the function: a table with open
// addressing that is read without locks.
//
// A word is the enter word of the function's region, or one of the two below. Any thread may read;
// one at a time writes. A table that becomes half full is replaced by one of twice the size; the
// old one stays, since threads may be reading it: all of them together are as large as the last.
// Nothing throws.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/event_word.hpp"

namespace timeloom::record {

inline constexpr EventWord kUnknownCode = 0;  // in this measurement
// Not to be recorded. It has no kind of event, which every word of a region has.
inline constexpr EventWord kLeftOutCode = 1 << 2;

class CodeTable {
 public:
  constexpr CodeTable() noexcept = default;
  CodeTable(const CodeTable&) = delete;
  CodeTable& operator=(const CodeTable&) = delete;

  // The word of the function, if that lies at its first place; else nullptr.
  const std::atomic<EventWord>* word_at_once(const void* function) const noexcept {
    const Block* const block = block_.load(std::memory_order_acquire);
    const Entry& entry = block->at(key_of(function) & block->mask);
    const bool found = entry.function.load(std::memory_order_acquire) == key_of(function);
    return found ? &entry.word : nullptr;
  }
  // The word, wherever it lies.
  EventWord word(const void* function) const noexcept;
  // Whether it has ever been put.
  bool has(const void* function) const noexcept;

  // False: there is no memory for another function.
  bool put(const void* function, EventWord word) noexcept;
  // All functions are unknown from here on.
  void forget() noexcept;

 private:
  struct Entry {
    std::atomic<std::uintptr_t> function = 0;
    std::atomic<EventWord> word = kUnknownCode;
  };
  static constexpr std::size_t kEntrySize = sizeof(Entry);

  // Followed by its other entries.
  struct Block {
    std::size_t mask = 0;  // of the bits of an address that are the offset of its first place
    std::size_t used = 0;  // entries
    const Block* before = nullptr;  // the block that it replaced, which threads may still read
    alignas(kEntrySize) Entry entry;

    // Offsets are in bytes, so that the address itself is its hash: functions lie apart.
    const Entry& at(std::size_t offset) const noexcept {
      return *reinterpret_cast<const Entry*>(reinterpret_cast<const std::byte*>(&entry) + offset);
    }
    Entry& at(std::size_t offset) noexcept {
      return *reinterpret_cast<Entry*>(reinterpret_cast<std::byte*>(&entry) + offset);
    }
    std::size_t size() const noexcept { return mask / kEntrySize + 1; }
  };

  static std::uintptr_t key_of(const void* function) noexcept {
    return reinterpret_cast<std::uintptr_t>(function);
  }
  // The entry of the function, or the free one for it. REQUIRES: one is free.
  static Entry& place(Block& block, std::uintptr_t function) noexcept;
  static Block* make_block(std::size_t entries) noexcept;
  const Entry& entry_of(const void* function) const noexcept;
  bool grow() noexcept;

  static Block empty_;
  std::atomic<Block*> block_ = &empty_;
};

}  // namespace timeloom::record
