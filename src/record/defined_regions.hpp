// The number of the measurement that has defined each region last. It tells whether a region
// has to be defined before it is entered.
//
// Read by any thread without a lock; set by one thread at a time. Never destroyed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "core/event_word.hpp"

namespace timeloom::record {

class DefinedRegions {
 public:
  // 0: no measurement has defined it.
  std::uint32_t of(RegionId id) const noexcept {
    const Page* page = pages_[id.value() / kPageSize].load(std::memory_order_acquire);
    return page == nullptr ? 0 : (*page)[id.value() % kPageSize].load(std::memory_order_acquire);
  }

  // REQUIRES: the definition has been written. Without memory the number stays as it was, and
  // the region is defined once more.
  void set(RegionId id, std::uint32_t measurement) noexcept {
    std::atomic<Page*>& place = pages_[id.value() / kPageSize];
    Page* page = place.load(std::memory_order_relaxed);
    if (page == nullptr) {
      page = new (std::nothrow) Page{};
      if (page == nullptr) return;
      place.store(page, std::memory_order_release);
    }
    (*page)[id.value() % kPageSize].store(measurement, std::memory_order_release);
  }

 private:
  static constexpr std::size_t kPageSize = std::size_t{1} << 13;
  using Page = std::array<std::atomic<std::uint32_t>, kPageSize>;
  std::array<std::atomic<Page*>, (std::size_t{kMaxPayload} + 1) / kPageSize> pages_{};
};

namespace detail {
extern constinit DefinedRegions g_defined_regions;
extern constinit std::atomic<std::uint32_t> g_number;  // measurement_number()
}  // namespace detail

// Whether the last measurement that has begun has defined the region.
inline bool is_defined(RegionId id) noexcept {
  return detail::g_defined_regions.of(id) == detail::g_number.load(std::memory_order_relaxed);
}

}  // namespace timeloom::record
