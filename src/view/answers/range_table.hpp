// The exact profile of a part of a run: the activity of each call path in a time range on some
// tracks.
//
// Functions over an index, for any thread. A block at either end of the range is read event by
// event, and so are blocks in which a call ends that was open at the start of the range. All others
// come from the sums. Throws Error where the file is damaged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/definitions.hpp"
#include "view/index/index.hpp"
#include "view/index/waited.hpp"

namespace timeloom::view {

struct RangeSum {
  std::uint64_t visits = 0;     // calls in the range, see is_in()
  std::uint64_t cut_begin = 0;  // of these: started before
  std::uint64_t cut_end = 0;    // of these: continue after it
  std::uint64_t own = 0;        // exclusive ticks in the range
  std::uint64_t waiting = 0;    // of these: the thread did not run
  CauseTicks causes{};          // parts of `waiting`, which they add up to
  std::uint64_t inclusive = 0;
  std::uint64_t min = UINT64_MAX;  // of a call, within the range
  std::uint64_t max = 0;
  friend bool operator==(const RangeSum&, const RangeSum&) = default;
};

// The sums of a path that ends in this region. A region that the program did not call has times,
// but no visits.
RangeSum counted(RangeSum sum, const Definitions& definitions, std::uint32_t region);

struct RangeTable {
  std::vector<RangeSum> sums;  // by path of the run; without visits: not in the range
  std::uint32_t tracks = 0;    // number of tracks with calls in the range
};

// Adds the sums of a track in [from, to), without inclusive times, to the sums by path. Returns
// true if the track has calls there.
bool add_range(const Track& track, std::uint64_t from, std::uint64_t to,
               std::vector<RangeSum>& sums);

RangeTable range_table(const Index& index, std::span<const std::uint32_t> tracks,
                       std::uint64_t from, std::uint64_t to);

}  // namespace timeloom::view
