// Tiles that the index holds ready.
//
// In the file: varint of all rows, varint of the rows that follow, plus kWithCauses if causes of
// waiting are known; then the rows of `off`, of `waiting`, of `cause` if they are known, and the
// others, as runs of equal columns: varint of columns, byte of cover (or of the cause), and for the
// others varint of the region + 1.

#include <algorithm>
#include <span>

#include "view/index/tile.hpp"

namespace timeloom::view {

namespace {

constexpr std::uint32_t kWithCauses = 256;
static_assert(kStoredRows < kWithCauses);

void append_runs(std::string& bytes, std::span<const std::uint8_t> row) {
  for (std::uint32_t at = 0; at < kColumns;) {
    std::uint32_t end = at + 1;
    while (end < kColumns && row[end] == row[at]) ++end;
    append_varint(bytes, end - at);
    bytes += static_cast<char>(row[at]);
    at = end;
  }
}

}  // namespace

std::string encoded(const Picture& picture) {
  std::string bytes;
  append_varint(bytes, picture.all_rows);
  append_varint(bytes, picture.rows + (picture.cause.empty() ? 0 : kWithCauses));
  append_runs(bytes, picture.off);
  append_runs(bytes, picture.waiting);
  if (!picture.cause.empty()) append_runs(bytes, picture.cause);
  for (std::size_t at = 0; at < picture.region.size();) {
    std::size_t end = at + 1;
    while (end % kColumns != 0 && picture.region[end] == picture.region[at] &&
           picture.cover[end] == picture.cover[at]) {
      ++end;
    }
    append_varint(bytes, end - at);
    bytes += static_cast<char>(picture.cover[at]);
    append_varint(bytes, std::uint64_t{picture.region[at]} + 1);
    at = end;
  }
  return bytes;
}

namespace {

template <typename Take>
void read_runs(ByteReader& in, const Take& take) {
  for (std::uint64_t at = 0; at < kColumns;) {
    const std::uint64_t columns = in.varint();
    if (columns == 0 || columns > kColumns - at) damaged();
    take(at, columns, in.byte());
    at += columns;
  }
}

// Decodes the rows from `first_row` on.
Picture decode(ByteReader in, std::uint32_t first_row, std::uint32_t rows) {
  Picture picture;
  picture.exact = false;
  picture.all_rows = in.varint32();
  std::uint64_t stored = in.varint();
  const bool causes = stored >= kWithCauses;
  if (causes) stored -= kWithCauses;
  if (stored > kStoredRows) damaged();
  const auto read_row = [&](std::span<std::uint8_t> row, std::uint8_t most) {
    read_runs(in, [&](std::uint64_t at, std::uint64_t columns, std::uint8_t part) {
      if (part > most) damaged();
      std::ranges::fill(row.subspan(at, columns), part);
    });
  };
  read_row(picture.off, UINT8_MAX);
  read_row(picture.waiting, UINT8_MAX);
  if (causes) {
    picture.cause.resize(kColumns);
    read_row(picture.cause, kWaitingCauses - 1);
  }
  for (std::uint64_t row = 0; row < stored; ++row) {
    const bool wanted = row >= first_row && row - first_row < rows;
    read_runs(in, [&](std::uint64_t, std::uint64_t columns, std::uint8_t cover) {
      const std::uint64_t region = in.varint();
      if (region > std::uint64_t{UINT32_MAX} + 1) damaged();
      if (!wanted) return;
      picture.region.insert(picture.region.end(), columns, static_cast<std::uint32_t>(region - 1));
      picture.cover.insert(picture.cover.end(), columns, cover);
    });
    if (wanted) ++picture.rows;
  }
  return picture;
}

// The sum of cells from tiles below.
struct MergedCell {
  std::array<Cell, 4> parts;

  Cell sum() const {
    Cell cell;
    for (const Cell& part : parts) {
      if (part.region == kNone) continue;
      cell.covered += part.covered;
      std::uint64_t ticks = 0;
      for (const Cell& other : parts) ticks += other.region == part.region ? other.most : 0;
      if (cell.region != kNone && ticks <= cell.most) continue;
      cell.region = part.region;
      cell.most = ticks;
    }
    return cell;
  }
};

// Columns without a known cause have their waiting as kUnknown.
void merge_causes(Tile& tile, const Tile& child, std::size_t first) {
  if (child.causes.empty() && tile.causes.empty()) return;
  if (tile.causes.empty()) {
    tile.causes.resize(kColumns);
    for (std::size_t i = 0; i < first; ++i) tile.causes[i][0] = tile.waiting[i];
  }
  for (std::size_t i = 0; i < kColumns; ++i) {
    CauseTicks& to = tile.causes[first + i / 4];
    if (child.causes.empty()) {
      to[0] += child.waiting[i];
    } else {
      add_causes(to, child.causes[i]);
    }
  }
}

void merge(Tile& tile, const Tile& child, unsigned quarter) {
  tile.all_rows = std::max(tile.all_rows, child.all_rows);
  tile.rows.resize(std::max(tile.rows.size(), child.rows.size()));
  const std::size_t first = quarter * kColumns / 4;
  for (std::size_t row = 0; row < child.rows.size(); ++row) {
    for (std::size_t i = 0; i < kColumns / 4; ++i) {
      MergedCell cells;
      std::copy_n(child.rows[row].begin() + static_cast<std::ptrdiff_t>(4 * i), 4,
                  cells.parts.begin());
      tile.rows[row][first + i] = cells.sum();
    }
  }
  for (std::size_t i = 0; i < kColumns; ++i) {
    tile.off[first + i / 4] += child.off[i];
    tile.waiting[first + i / 4] += child.waiting[i];
  }
  merge_causes(tile, child, first);
}

class TileWriter {
 public:
  TileWriter(const Track& track, IndexFile& file) : track_(track), file_(file) {}

  Tile make(const TileKey& place) {
    const bool few = track_.blocks_in(place.begin(), place.end()) < kTileBlocks;
    if (few || place.level == 0) return draw(track_, place, 0, kStoredRows);
    Tile tile;
    tile.exact = false;
    for (unsigned i = 0; i < 4; ++i) merge(tile, make(place.child(i)), i);
    const std::string bytes = encoded(picture_of(tile, place));
    TileRecord record;
    record.index = place.index;
    record.level = place.level;
    record.bytes = static_cast<std::uint32_t>(bytes.size());
    record.check = check_of_bytes(bytes);
    record.offset = file_.append(bytes);
    records_.push_back(record);
    return tile;
  }
  std::vector<TileRecord> take() {
    std::ranges::sort(records_, [](const TileRecord& a, const TileRecord& b) {
      return a.level != b.level ? a.level < b.level : a.index < b.index;
    });
    return std::move(records_);
  }

 private:
  const Track& track_;
  IndexFile& file_;
  std::vector<TileRecord> records_;
};

const TileRecord* find(const std::vector<TileRecord>& tiles, const TileKey& place) {
  const auto found = std::ranges::lower_bound(
      tiles, place,
      [](const TileKey& a, const TileKey& b) {
        return a.level != b.level ? a.level < b.level : a.index < b.index;
      },
      [](const TileRecord& record) {
        return TileKey{record.level, record.index};
      });
  const bool there =
      found != tiles.end() && found->level == place.level && found->index == place.index;
  return there ? &*found : nullptr;
}

}  // namespace

std::vector<TileRecord> write_tiles(const Track& track, IndexFile& file) {
  TileWriter writer(track, file);
  if (track.blocks().size() >= kTileBlocks) static_cast<void>(writer.make({kLastLevel, 0}));
  return writer.take();
}

Picture picture_at(const Track& track, const TileKey& place, std::uint32_t first_row,
                   std::uint32_t rows) {
  const TileRecord* record = find(track.tiles(), place);
  if (record == nullptr) return picture_of(draw(track, place, first_row, rows), place);
  Words words;
  track.file().read(record->offset, record->bytes, record->check, words);
  return decode(ByteReader(bytes_of(words), record->bytes), first_row, rows);
}

}  // namespace timeloom::view
