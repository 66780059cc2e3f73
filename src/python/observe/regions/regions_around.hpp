// The regions that are not functions but may be open around calls of them: blocks of the user API,
// and tasks.
//
// Any thread may call these functions, and handlers of signals, too: they take no lock. Regions
// stay known until the process ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace timeloom::python {

// Regions with larger numbers are not known.
inline constexpr std::uint32_t kMostRegionsAround = 1 << 16;
inline constinit std::atomic<std::uint64_t> g_regions_around[kMostRegionsAround / 64]{};

inline void note_region_around(std::uint32_t region) noexcept {
  if (region >= kMostRegionsAround) return;
  g_regions_around[region / 64].fetch_or(std::uint64_t{1} << region % 64,
                                         std::memory_order_relaxed);
}

inline bool is_region_around(std::uint32_t region) noexcept {
  if (region >= kMostRegionsAround) return false;
  const std::uint64_t word = g_regions_around[region / 64].load(std::memory_order_relaxed);
  return (word >> region % 64 & 1) != 0;
}

}  // namespace timeloom::python
