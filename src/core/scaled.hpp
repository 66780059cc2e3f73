// Times in another unit. A pure function, for any thread; nothing throws.
#pragma once

#include <algorithm>
#include <cstdint>

namespace timeloom {

inline constexpr std::uint64_t kNanoseconds = 1'000'000'000;  // in a second

// value * to / from, rounded down, at most UINT64_MAX. REQUIRES: from > 0.
inline std::uint64_t scaled(std::uint64_t value, std::uint64_t to, std::uint64_t from) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(
      std::min(static_cast<Wide>(value) * to / from, Wide{UINT64_MAX}));
}

}  // namespace timeloom
