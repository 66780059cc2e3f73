// A filter before the table of sampled blocks, which most blocks are not in. Any thread may ask;
// other functions need the lock of the account. Nothing is allocated or thrown.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace timeloom::preload {

// A quick answer whether an address may be one of a sampled block: a count for each hash of
// addresses. A count that has reached its largest value stays.
class AddressFilter {
 public:
  bool may_have(std::uint64_t address) const noexcept {
    return counts_[hash(address)].load(std::memory_order_relaxed) != 0;
  }
  void add(std::uint64_t address) noexcept { change(address, 1); }
  void remove(std::uint64_t address) noexcept { change(address, -1); }
  void clear() noexcept {
    for (auto& count : counts_) count.store(0, std::memory_order_relaxed);
  }

 private:
  static std::size_t hash(std::uint64_t address) noexcept {
    return (address * 0x9e3779b97f4a7c15u) >> 48;
  }
  void change(std::uint64_t address, int by) noexcept {
    auto& count = counts_[hash(address)];
    const int now = count.load(std::memory_order_relaxed);
    if (now != UINT8_MAX) count.store(static_cast<std::uint8_t>(now + by));
  }
  std::atomic<std::uint8_t> counts_[65536] = {};
};

}  // namespace timeloom::preload
