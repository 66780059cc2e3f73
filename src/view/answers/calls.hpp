// Single calls of a track.
//
// Pure functions over an index, for any thread. Times are ticks since the start of the run. Throws
// Error where the file is damaged.
#pragma once

#include <cstdint>
#include <vector>

#include "view/index/cursor.hpp"
#include "view/index/track.hpp"

namespace timeloom::view {

struct Call {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t depth = 0;
  std::uint32_t path = kNone;
  std::uint32_t region = kNone;
  friend bool operator==(const Call&, const Call&) = default;
};

inline Call call_of(const Track& track, const Frame& frame, std::uint64_t end, std::size_t depth) {
  return {frame.begin, end, static_cast<std::uint32_t>(depth), track.nodes()[frame.node].path,
          frame.region};
}

// A call is in [from, to) if it starts before `to`, and ends after `from` or starts at or after it.
constexpr bool is_in(std::uint64_t begin, std::uint64_t end, std::uint64_t from,
                     std::uint64_t to) noexcept {
  return begin < to && (end > from || begin >= from);
}

struct CallQuestion {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint32_t first_depth = 0;
  std::uint32_t depths = UINT32_MAX;
  std::size_t limit = SIZE_MAX;
  std::uint64_t most_events = UINT64_MAX;  // limit of events to read
};

struct CallAnswer {
  std::vector<Call> calls;  // by start time, callers before their callees
  bool complete = true;
  std::uint64_t until = 0;  // complete for calls that start before this time
};

CallAnswer calls_in(const Track& track, const CallQuestion& question);

// Moves the cursor on until all wanted calls that are open now have ended, and sets their ends.
// `open`: for each depth the index in `calls` (SIZE_MAX: not wanted). Blocks in which none of them
// ends are skipped.
void find_ends(Cursor& cursor, std::vector<std::size_t> open, std::vector<Call>& calls,
               const Track& track);

// The call at a depth that contains `time`, or starts at it without duration. None: count 0.
std::vector<Call> call_at(const Track& track, std::uint32_t depth, std::uint64_t time);

}  // namespace timeloom::view
