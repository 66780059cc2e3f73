// The time from the last event of a thread to the last moment at which the thread is known: the
// part that it waited, from clock readings in between, and the part that was not measured.
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

// A gap of at most this length counts as work, as between two events.
inline constexpr std::uint64_t kShortGap = 100'000;  // nanoseconds

// `last`: ticks of the last event. Empty result: the gap is short.
std::optional<LastGap> last_gap(const spool::LastClocks& clocks, std::uint64_t last,
                                const ProcessClock& clock, Timestamp end) noexcept;

}  // namespace timeloom::weave
