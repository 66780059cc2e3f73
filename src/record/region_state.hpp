// The id that a region of native code has in one measurement, in a word beside the region: other
// measurements may give it other ids. Any thread may read and set it.
#pragma once

#include <cstdint>

#include "core/event_word.hpp"
#include "record/measurement.hpp"

namespace timeloom::record {

inline constexpr unsigned kNumberShift = 32;

// The enter word of the region in the measurement of this number; 0: not known yet.
inline EventWord known_word(const std::uint64_t& state, std::uint32_t number) noexcept {
  const std::uint64_t value = __atomic_load_n(&state, __ATOMIC_RELAXED);
  if (value >> kNumberShift != number) return 0;
  return enter_word(RegionId{static_cast<std::uint32_t>(value)});
}

// Defines the region in the running measurement. Throws std::bad_alloc.
inline void define_in(std::uint64_t& state, const Region& region) {
  const std::uint64_t number = measurement_number();
  const RegionId id = define_region(region);
  __atomic_store_n(&state, number << kNumberShift | id.value(), __ATOMIC_RELAXED);
}

}  // namespace timeloom::record
