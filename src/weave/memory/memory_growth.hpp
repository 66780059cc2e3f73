// Memory that only grows: found in the records of one process.
//
// A pure function, for any thread. Throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "spool/memory_reader.hpp"

namespace timeloom::weave {

struct GrowthOfProcess {
  std::uint64_t from_ticks = 0;
  std::uint64_t to_ticks = 0;
  std::uint64_t from = 0;  // bytes held then
  std::uint64_t to = 0;
  std::size_t path = 0;  // the number of the call path that has grown most
  double of_path = 0;    // bytes by which it has grown: an estimate
};

// The growth of the process; none: its memory does not grow all the time. The time of the process
// is cut into ten equal slices, and the fewest bytes that are held in each are compared. The first
// slice, which imports, and the last, which may clean up, do not count. Memory grows if each of the
// others holds more than the one before, by 3 % of the whole growth or more and 40 % or less, and
// the whole is 32 MB or more and 30 % of the peak or more. `end`: the end of the process, in ticks.
std::optional<GrowthOfProcess> find_growth(const spool::MemoryData& data, std::uint64_t end);

}  // namespace timeloom::weave
