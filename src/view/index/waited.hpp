// Waiting within a stretch of time. The position of the waiting in the stretch is not known, so it
// counts as spread evenly; the parts of a stretch together have all of its waiting. The page does
// the same with the events in a file (viewer/src/source/waited.ts), with equal ticks.
//
// Plain values, for any thread; nothing throws.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "core/scaled.hpp"
#include "core/waiting_metric.hpp"

namespace timeloom::view {

// Ticks of waiting by WaitingCause. Where the causes of a run are not known, all are kUnknown.
using CauseTicks = std::array<std::uint64_t, kWaitingCauses>;

inline std::uint64_t total(const CauseTicks& ticks) noexcept {
  return std::accumulate(ticks.begin(), ticks.end(), std::uint64_t{0});
}

inline void add_causes(CauseTicks& to, const CauseTicks& other) noexcept {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += other[i];
}

// The number of the cause with the most ticks; of equal ones, the first.
inline std::uint8_t main_cause(const CauseTicks& ticks) noexcept {
  return static_cast<std::uint8_t>(std::ranges::max_element(ticks) - ticks.begin());
}

// The waiting of one stretch. Cause 0 is spread over all ticks of the stretch, each further one
// over the ticks that the causes before it leave. So no part has more waiting than ticks, and
// neighbouring parts add up to the waiting of both together, for each cause.
struct Waited {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  CauseTicks ticks{};  // they add up to at most end - begin

  // The part of the waiting in [from, to).
  CauseTicks in(std::uint64_t from, std::uint64_t to) const noexcept {
    from = std::max(from, begin);
    to = std::min(to, end);
    if (from >= to) return {};
    if (from == begin && to == end) return ticks;
    CauseTicks parts = before(to);
    const CauseTicks earlier = before(from);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] -= earlier[i];
    return parts;
  }

 private:
  CauseTicks before(std::uint64_t time) const noexcept {
    CauseTicks parts{};
    std::uint64_t left = time - begin, whole = end - begin;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (ticks[i] == 0) continue;
      parts[i] = scaled(ticks[i], left, whole);
      left -= parts[i];
      whole -= ticks[i];
    }
    return parts;
  }
};

}  // namespace timeloom::view
