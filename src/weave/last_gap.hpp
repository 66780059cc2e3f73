// The time from the last event of a thread to the end of what is known of it: what of it was
// waiting, from the clocks that were read meanwhile, and what nobody has measured.
//
// Pure functions, for any thread; nothing throws.
#pragma once

#include <cstdint>
#include <optional>

#include "spool/reader.hpp"
#include "weave/process_clock.hpp"

namespace timeloom::weave {

struct LastGap {
  std::uint64_t waited = 0;    // nanoseconds up to measured_until
  Timestamp measured_until{};  // at the latest the end
  bool unmeasured = false;     // the time from there to the end
};

// A time as short as this counts as work, as between two events.
inline constexpr std::uint64_t kShortGap = 100'000;  // nanoseconds

// `last`: ticks of the last event. Nothing: the gap is short.
std::optional<LastGap> last_gap(const spool::LastClocks& clocks, std::uint64_t last,
                                const ProcessClock& clock, Timestamp end) noexcept;

}  // namespace timeloom::weave
