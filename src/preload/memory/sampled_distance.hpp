// The distance from one sampled byte to the next: samples of allocations by a Poisson process.
//
// A pure function of its arguments, for any thread. Throws nothing.
#pragma once

#include <cmath>
#include <cstdint>

namespace timeloom::preload {

// Drawn from the exponential distribution with the mean `interval`, in bytes. `random`: the state
// of the generator (xorshift64*), which changes. REQUIRES: it is not 0.
inline std::int64_t sampled_distance(std::uint64_t& random, std::uint64_t interval) noexcept {
  std::uint64_t& x = random;
  x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
  const double uniform = (static_cast<double>((x * 0x2545f4914f6cdd1du) >> 11) + 0.5) * 0x1p-53;
  return static_cast<std::int64_t>(-std::log(uniform) * static_cast<double>(interval));
}

}  // namespace timeloom::preload
