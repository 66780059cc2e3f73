#include "record/native/code_table.hpp"

#include <new>

namespace timeloom::record {
namespace {

constexpr std::size_t kFirstEntries = 1024;

}  // namespace

constinit CodeTable::Block CodeTable::empty_;

// Functions at the same first place, which may be many where libraries are alike, have different
// second ones: the step between places is odd, and made of the other bits.
CodeTable::Entry& CodeTable::place(Block& block, std::uintptr_t function) noexcept {
  std::size_t offset = function & block.mask;
  const std::uintptr_t mixed = function * 0x9e3779b97f4a7c15u >> 32;
  const std::size_t step = (mixed | 1) * kEntrySize;
  while (true) {
    Entry& entry = block.at(offset);
    const std::uintptr_t found = entry.function.load(std::memory_order_acquire);
    if (found == function || found == 0) return entry;
    offset = (offset + step) & block.mask;
  }
}

const CodeTable::Entry& CodeTable::entry_of(const void* function) const noexcept {
  return place(*block_.load(std::memory_order_acquire), key_of(function));
}

EventWord CodeTable::word(const void* function) const noexcept {
  const Entry& entry = entry_of(function);
  // A free entry may be taken meanwhile, by another function.
  if (entry.function.load(std::memory_order_acquire) != key_of(function)) return kUnknownCode;
  return entry.word.load(std::memory_order_relaxed);
}

bool CodeTable::has(const void* function) const noexcept {
  return entry_of(function).function.load(std::memory_order_acquire) == key_of(function);
}

bool CodeTable::put(const void* function, EventWord word) noexcept {
  Block* block = block_.load(std::memory_order_relaxed);
  Entry* entry = &place(*block, key_of(function));
  if (entry->function.load(std::memory_order_relaxed) == 0) {
    if (2 * block->used + 2 > block->size()) {
      if (!grow()) return false;
      block = block_.load(std::memory_order_relaxed);
      entry = &place(*block, key_of(function));
    }
    ++block->used;
  }
  entry->word.store(word, std::memory_order_relaxed);
  entry->function.store(key_of(function), std::memory_order_release);
  return true;
}

void CodeTable::forget() noexcept {
  Block& block = *block_.load(std::memory_order_relaxed);
  for (std::size_t offset = 0; offset <= block.mask; offset += kEntrySize) {
    block.at(offset).word.store(kUnknownCode, std::memory_order_relaxed);
  }
}

CodeTable::Block* CodeTable::make_block(std::size_t entries) noexcept {
  const std::size_t bytes = sizeof(Block) + (entries - 1) * kEntrySize;
  auto* const room = static_cast<std::byte*>(::operator new(bytes, std::nothrow));
  if (room == nullptr) return nullptr;
  auto* const block = new (room) Block;
  block->mask = (entries - 1) * kEntrySize;
  for (std::size_t i = 1; i < entries; ++i) new (&block->entry + i) Entry;
  return block;
}

bool CodeTable::grow() noexcept {
  Block& old = *block_.load(std::memory_order_relaxed);
  Block* const block = make_block(old.size() == 1 ? kFirstEntries : 2 * old.size());
  if (block == nullptr) return false;
  for (std::size_t offset = 0; offset <= old.mask; offset += kEntrySize) {
    const Entry& entry = old.at(offset);
    const std::uintptr_t function = entry.function.load(std::memory_order_relaxed);
    if (function == 0) continue;
    Entry& copy = place(*block, function);
    copy.word.store(entry.word.load(std::memory_order_relaxed), std::memory_order_relaxed);
    copy.function.store(function, std::memory_order_relaxed);
    ++block->used;
  }
  block->before = &old;
  block_.store(block, std::memory_order_release);
  return true;
}

}  // namespace timeloom::record
