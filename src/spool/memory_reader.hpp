// Reads the file `memory` of a spool, even if the process was killed or still runs.
//
// A function without state, for any thread; the result is a plain value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "spool/memory_format.hpp"
#include "spool/spool_directory.hpp"

namespace timeloom::spool {

// The amounts of one call path.
struct MemoryAmounts {
  std::uint32_t parent = 0;
  std::uint32_t region = 0;
  std::uint32_t location = 0;
  std::uint64_t allocations = 0;
  std::uint64_t allocated = 0;
  std::uint64_t frees = 0;
  std::uint64_t freed = 0;
  std::uint64_t largest = 0;
  std::uint64_t highest = 0;  // bytes that the process held right after an allocation of the path
  // Where the owner of each block is known.
  std::uint64_t held = 0, held_blocks = 0;            // at the end
  std::uint64_t peak_held = 0, peak_held_blocks = 0;  // at the peak
};

struct MemoryData {
  bool exists = false;
  bool damaged = false;
  std::uint64_t interval = 0;
  std::uint64_t start = 0;  // ticks
  std::uint64_t live_at_start = 0;
  std::uint64_t live = 0;
  std::uint64_t peak = 0;
  std::uint64_t peak_ticks = 0;
  std::uint64_t peak_blocks = 0;  // at most the number of blocks
  std::uint64_t end = 0;          // ticks; 0: it has none
  std::uint64_t resident = 0;     // bytes in memory at the end; 0: not known
  std::uint64_t lost = 0;
  bool foreign = false;
  bool all = false;     // the owner of each block is known
  bool each = false;    // each block has its birth and death among the blocks
  bool forked = false;  // its parent holds the bytes that it has at the start, in the same pages
  std::vector<MemoryAmounts> paths;  // each after its parent
  std::vector<MemoryBlock> blocks;   // births of known paths, deaths of births before

  // The last time in the records; 0: there is none.
  std::uint64_t last_ticks() const noexcept {
    std::uint64_t last = std::max(end, peak_ticks);
    for (const MemoryBlock& block : blocks) last = std::max(last, block.ticks);
    return last;
  }
};

MemoryData read_memory(const SpoolDirectory& directory);

}  // namespace timeloom::spool
