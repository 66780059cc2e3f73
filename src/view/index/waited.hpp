// Waiting within a stretch of time. The position of the waiting in the stretch is not known, so it
// counts as spread evenly; the parts of a stretch together have all of its waiting. The page does
// the same with the events in a file (viewer/src/source/waited.ts), with equal ticks.
//
// Plain values, for any thread; nothing throws.
#pragma once

#include <algorithm>
#include <cstdint>

namespace timeloom::view {

inline constexpr std::uint64_t kNanoseconds = 1'000'000'000;  // in a second

// value * to / from, rounded down, at most UINT64_MAX. REQUIRES: from > 0.
inline std::uint64_t scaled(std::uint64_t value, std::uint64_t to, std::uint64_t from) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(
      std::min(static_cast<Wide>(value) * to / from, Wide{UINT64_MAX}));
}

struct Waited {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t ticks = 0;  // at most end - begin

  // The part of the waiting in [from, to).
  std::uint64_t in(std::uint64_t from, std::uint64_t to) const noexcept {
    from = std::max(from, begin);
    to = std::min(to, end);
    return ticks == 0 || from >= to ? 0 : before(to) - before(from);
  }

 private:
  std::uint64_t before(std::uint64_t time) const noexcept {
    return scaled(ticks, time - begin, end - begin);
  }
};

}  // namespace timeloom::view
