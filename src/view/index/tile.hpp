// The picture of a stretch of a track: 256 columns of 4^level ticks, with a row for the innermost
// calls and one for each depth.
//
// A tile is drawn from the events of its track. Where these are too many (kTileBlocks), the index
// stores it ready-made from the four tiles of the level below, with at most kStoredRows rows. The
// region of a cell is then one with a long time there, not always the longest. Plain values and
// functions. Throws Error where the file is damaged.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "view/index/index_file.hpp"
#include "view/index/track.hpp"
#include "view/index/waited.hpp"

namespace timeloom::view {

inline constexpr std::uint32_t kColumns = 256;
inline constexpr unsigned kLastLevel = 28;
inline constexpr std::uint32_t kTileBlocks = 16;  // tiles with this many blocks are stored
inline constexpr std::uint32_t kStoredRows = 129;

struct TileKey {
  unsigned level = 0;
  std::uint64_t index = 0;

  std::uint64_t width() const noexcept { return std::uint64_t{1} << (2 * level); }  // of a column
  // For tiles beyond the last time: kLastTime + 1.
  std::uint64_t begin() const noexcept { return at(index); }
  std::uint64_t end() const noexcept { return at(index + 1); }
  TileKey child(unsigned i) const noexcept { return {level - 1, index * 4 + i}; }

 private:
  std::uint64_t at(std::uint64_t number) const noexcept {
    return number > (kLastTime >> (2 * level)) / kColumns ? kLastTime + 1
                                                          : number * kColumns << (2 * level);
  }
};

struct Cell {
  std::uint64_t covered = 0;     // ticks
  std::uint64_t most = 0;        // ticks of the region
  std::uint32_t region = kNone;  // kNone: the cell is empty; no call was here, not even for 0 ticks
};
using Row = std::array<Cell, kColumns>;

struct Tile {
  std::vector<Row> rows;       // from first_row on
  std::uint32_t all_rows = 1;  // number of rows of the whole tile
  bool exact = true;
  std::array<std::uint64_t, kColumns> off{};  // ticks
  std::array<std::uint64_t, kColumns> waiting{};
  std::vector<CauseTicks> causes;  // of `waiting`, by column; empty: no cause is known
};

// A tile in 8-bit numbers, as it is shown and stored.
struct Picture {
  std::uint32_t rows = 0;
  std::uint32_t all_rows = 1;
  bool exact = true;
  std::array<std::uint8_t, kColumns> off{};
  std::array<std::uint8_t, kColumns> waiting{};
  // By column: the WaitingCause with the most ticks; empty: no cause is known.
  std::vector<std::uint8_t> cause;
  std::vector<std::uint32_t> region;  // by row, then column
  std::vector<std::uint8_t> cover;
};

// Draws `rows` rows from `first_row` on, from the events.
Tile draw(const Track& track, const TileKey& place, std::uint32_t first_row, std::uint32_t rows);
Picture picture_of(const Tile& tile, const TileKey& place);
// The rows of a tile, from the index or drawn.
Picture picture_at(const Track& track, const TileKey& place, std::uint32_t first_row,
                   std::uint32_t rows);

// The bytes of a stored tile, see stored_tiles.cpp.
std::string encoded(const Picture& picture);
// Writes the stored tiles of a track. Returns their records, in order.
std::vector<TileRecord> write_tiles(const Track& track, IndexFile& file);

}  // namespace timeloom::view
