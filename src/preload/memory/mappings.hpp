// The mappings of memory that the process has made itself, by address.
//
// Not synchronised: the account calls it under its lock. Nothing throws or allocates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace timeloom::preload {

struct MappedRange {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::uint64_t birth;  // the number of the mapping's record in the log
  std::uint32_t path;
  bool held = false;  // counted for the path as long as it lives
};

class Mappings {
 public:
  bool is_full() const noexcept { return count_ == kMost; }
  // REQUIRES: there is room.
  void add(const MappedRange& range) noexcept {
    MappedRange* const at = first_beyond(range.begin);
    std::move_backward(at, ranges_ + count_, ranges_ + count_ + 1);
    *at = range;
    ++count_;
  }
  // Takes one range out that has a part of [begin, end); false: there is none.
  bool take(std::uintptr_t begin, std::uintptr_t end, MappedRange& taken) noexcept {
    MappedRange* const at = first_beyond(begin);
    if (at == ranges_ + count_ || at->begin >= end) return false;
    taken = *at;
    std::move(at + 1, ranges_ + count_, at);
    --count_;
    return true;
  }
  // All ranges get the number `none` and the call path `path`. Called between measurements, since
  // their numbers are in the log of the last one.
  void forget_births(std::uint64_t none, std::uint32_t path) noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      ranges_[i].birth = none, ranges_[i].path = path, ranges_[i].held = false;
    }
  }

 private:
  static constexpr std::size_t kMost = 65536;
  // The first range that ends behind the address. They do not overlap.
  MappedRange* first_beyond(std::uintptr_t address) noexcept {
    return std::upper_bound(ranges_, ranges_ + count_, address,
                            [](std::uintptr_t a, const MappedRange& r) { return a < r.end; });
  }

  MappedRange ranges_[kMost] = {};
  std::size_t count_ = 0;
};

}  // namespace timeloom::preload
