// A hash table from addresses, with a number beside each, to small values: open addressing, one
// cache line for most look-ups. Not synchronised. Throws std::bad_alloc where it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace timeloom::record {

template <typename Value>
class PointerMap {
 public:
  PointerMap() : slots_(kFirst) {}

  // nullptr: it is not there. Valid until the next insert() or erase().
  Value* find(const void* key, std::uint32_t number = 0) noexcept {
    for (std::size_t i = place(key, number);; i = next(i)) {
      Slot& slot = slots_[i];
      if (slot.key == key && slot.number == number) return &slot.value;
      if (slot.key == nullptr) return nullptr;
    }
  }
  // REQUIRES: the key is not there, and is not nullptr.
  Value& insert(const void* key, std::uint32_t number, Value value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    ++used_;
    return put({key, number, std::move(value)});
  }
  void erase(const void* key, std::uint32_t number = 0) noexcept {
    std::size_t hole = place(key, number);
    while (slots_[hole].key != key || slots_[hole].number != number) {
      if (slots_[hole].key == nullptr) return;
      hole = next(hole);
    }
    --used_;
    // Entries behind the hole that could lie in it, or before it, move there.
    for (std::size_t i = next(hole); slots_[i].key != nullptr; i = next(i)) {
      const std::size_t wanted = place(slots_[i].key, slots_[i].number);
      const std::size_t mask = slots_.size() - 1;
      if (((i - wanted) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = {};
  }
  std::size_t size() const noexcept { return used_; }
  // Calls `visit(key, value)` for each.
  template <typename Visit>
  void each(Visit visit) {
    for (Slot& slot : slots_) {
      if (slot.key != nullptr) visit(slot.key, slot.value);
    }
  }

 private:
  struct Slot {
    const void* key = nullptr;
    std::uint32_t number = 0;
    Value value{};
  };
  static constexpr std::size_t kFirst = 256;

  std::size_t place(const void* key, std::uint32_t number) const noexcept {
    const std::uint64_t mixed =
        ((reinterpret_cast<std::uintptr_t>(key) >> 4) ^ (std::uint64_t{number} << 40)) *
        0x9e37'79b9'7f4a'7c15;
    return static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
  }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & (slots_.size() - 1); }
  Value& put(Slot slot) noexcept {
    std::size_t i = place(slot.key, slot.number);
    while (slots_[i].key != nullptr) i = next(i);
    slots_[i] = std::move(slot);
    return slots_[i].value;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.key != nullptr) put(std::move(slot));
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace timeloom::record
