// The profile of a part of a run: what each call path did in a range of time on some tracks,
// exactly.
//
// Functions over an index, for any thread. A block at either end of the range is read event by
// event, and so are those in which a call ends that was open when the range began; everything in
// between comes from the sums. Throws Error where the file is damaged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/definitions.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

struct RangeSum {
  std::uint64_t visits = 0;     // calls in the range, see is_in()
  std::uint64_t cut_begin = 0;  // of them, those that had begun before
  std::uint64_t cut_end = 0;    // of them, those that go on after it
  std::uint64_t own = 0;        // ticks within the range
  std::uint64_t waiting = 0;    // of them, those in which the thread did not run
  std::uint64_t inclusive = 0;
  std::uint64_t min = UINT64_MAX;  // of a call, within the range
  std::uint64_t max = 0;
  friend bool operator==(const RangeSum&, const RangeSum&) = default;
};

// The sums of a path that ends in this region: without visits, and with times only, where nobody
// has called it.
RangeSum counted(RangeSum sum, const Definitions& definitions, std::uint32_t region);

struct RangeTable {
  std::vector<RangeSum> sums;  // by path of the run; without visits: not in the range
  std::uint32_t tracks = 0;    // that have calls in the range
};

// Adds what a track has in [from, to), without inclusive times, to the sums by path. Returns
// whether it has any calls there.
bool add_range(const Track& track, std::uint64_t from, std::uint64_t to,
               std::vector<RangeSum>& sums);

RangeTable range_table(const Index& index, std::span<const std::uint32_t> tracks,
                       std::uint64_t from, std::uint64_t to);

}  // namespace timeloom::view
