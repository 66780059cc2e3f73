// The outline of a run that is too large for a page with all its calls: its pictures down to a
// level, the sums of its calls by time step, and its longest calls.
//
// The bytes have the form of the sections in docs/formats/view-http.md. Plain functions over an
// index, used by one thread at a time. Throws Error where the index is damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "view/index/index.hpp"
#include "view/index/tile.hpp"

namespace timeloom::view {

// Size limits of the parts, before compression. One row of the coarsest level and the sums of a
// single step are always present.
struct OutlineLimits {
  std::size_t tile_bytes = 20 << 20;
  std::size_t sum_bytes = 10 << 20;
  std::uint64_t steps = 4096;
  std::size_t calls = 100'000;
};

struct OutlineTiles {
  unsigned finest = 0;                // the last level that is present
  std::uint32_t rows = kStoredRows;   // most rows of a tile: fewer where very many tracks have many
  std::vector<std::string> sections;  // of each track, each process, and the run
};
// Starts at the level at which one tile shows the run, and goes to finer ones.
OutlineTiles outline_tiles(const Index& index, const Definitions& definitions,
                           std::size_t most_bytes);

struct OutlineSums {
  unsigned level = 0;                 // a step is 4^level ticks
  std::vector<std::string> sections;  // of each track; empty: no calls
};
OutlineSums outline_sums(const Index& index, const OutlineLimits& limits);

// The longest calls of each track, and all of their callers: at most `most` in all, an equal number
// of each track that has as many. A section for each track that has any.
std::vector<std::string> longest_calls(const Index& index, std::size_t most);

}  // namespace timeloom::view
