// Draws tiles from events.

#include "view/index/tile.hpp"

#include <algorithm>

#include "view/index/cursor.hpp"
#include "view/index/waited.hpp"

namespace timeloom::view {

namespace {

// The cells of one row, filled in order of time.
class RowBuilder {
 public:
  explicit RowBuilder(unsigned level) : shift_(2 * level) {}

  // Ticks since the start of the tile. REQUIRES: begin is below the end of the tile.
  void add(std::uint32_t region, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t first = begin >> shift_;
    const std::uint64_t last = end > begin ? (end - 1) >> shift_ : first;
    // Most calls lie in the same column as the one before.
    if (first == column_ && last == first) return add_ticks(region, end - begin);
    for (std::uint64_t column = first; column <= last; ++column) {
      const std::uint64_t from = std::max(begin, column << shift_);
      const std::uint64_t to = std::min(end, (column + 1) << shift_);
      if (column != column_) {
        choose();
        column_ = static_cast<std::uint32_t>(column);
      }
      add_ticks(region, to - from);
    }
  }
  const Row& finish() {
    choose();
    return cells_;
  }

 private:
  struct Share {
    std::uint32_t region;
    std::uint64_t ticks;
  };

  // Adds ticks to the current column.
  void add_ticks(std::uint32_t region, std::uint64_t ticks) {
    covered_ += ticks;
    // A region that comes again is usually one of the last.
    for (std::size_t i = shares_.size(); i-- > 0;) {
      if (shares_[i].region != region) continue;
      shares_[i].ticks += ticks;
      return;
    }
    shares_.push_back({region, ticks});
  }
  // Chooses the region with the longest time; of equal ones, the first.
  void choose() {
    if (shares_.empty()) return;
    const Share& most = *std::ranges::max_element(shares_, {}, &Share::ticks);
    Cell& cell = cells_[column_];
    cell.region = most.region;
    cell.most = most.ticks;
    cell.covered += covered_;
    covered_ = 0;
    shares_.clear();
  }

  unsigned shift_;
  std::uint32_t column_ = kNone;
  std::uint64_t covered_ = 0;  // of column_, not yet in its cell
  std::vector<Share> shares_;  // of column_
  Row cells_{};
};

class TileBuilder {
 public:
  TileBuilder(const TileKey& place, std::uint32_t first_row, std::uint32_t rows)
      : place_(place),
        begin_(place.begin()),
        end_(place.end()),
        first_row_(first_row),
        most_rows_(rows) {}

  // Adds a call in row `row`. REQUIRES: the calls of a row come in order of time.
  void add(std::uint32_t row, std::uint32_t region, std::uint64_t begin, std::uint64_t end) {
    if (begin >= end_ || (end <= begin_ && begin < begin_)) return;
    tile_.all_rows = std::max(tile_.all_rows, row + 1);
    if (row < first_row_ || row - first_row_ >= most_rows_) return;
    while (rows_.size() <= row - first_row_) rows_.emplace_back(place_.level);
    rows_[row - first_row_].add(region, std::max(begin, begin_) - begin_,
                                std::min(end, end_) - begin_);
  }
  void add_off(std::uint64_t begin, std::uint64_t end) {
    each_column(begin, end, [&](std::uint64_t column, std::uint64_t from, std::uint64_t to) {
      tile_.off[column] += to - from;
    });
  }
  void add_waiting(const Waited& waited) {
    const std::uint64_t sum = total(waited.ticks);
    if (sum == 0) return;
    if (sum != waited.ticks[0] && tile_.causes.empty()) know_causes();
    each_column(waited.begin, waited.end,
                [&](std::uint64_t column, std::uint64_t from, std::uint64_t to) {
                  const CauseTicks ticks = waited.in(from, to);
                  tile_.waiting[column] += total(ticks);
                  if (!tile_.causes.empty()) add_causes(tile_.causes[column], ticks);
                });
  }
  Tile finish() {
    for (RowBuilder& row : rows_) tile_.rows.push_back(row.finish());
    // Row 0 always exists.
    if (tile_.rows.empty() && first_row_ == 0 && most_rows_ > 0) tile_.rows.emplace_back();
    return std::move(tile_);
  }

 private:
  // Calls take(column, begin, end) for each column that [begin, end) touches.
  template <typename Take>
  void each_column(std::uint64_t begin, std::uint64_t end, const Take& take) const {
    begin = std::max(begin, begin_);
    end = std::min(end, end_);
    while (begin < end) {
      const std::uint64_t column = (begin - begin_) / place_.width();
      const std::uint64_t to = std::min(end, begin_ + (column + 1) * place_.width());
      take(column, begin, to);
      begin = to;
    }
  }

  // The waiting until now has no cause.
  void know_causes() {
    tile_.causes.resize(kColumns);
    for (std::size_t i = 0; i < kColumns; ++i) tile_.causes[i][0] = tile_.waiting[i];
  }

  TileKey place_;
  std::uint64_t begin_, end_;
  std::uint32_t first_row_, most_rows_;
  std::vector<RowBuilder> rows_;
  Tile tile_;
};

std::uint32_t innermost(const Cursor& cursor) noexcept {
  return cursor.open().empty() ? kNone : cursor.open().back().region;
}

std::uint8_t eighth(std::uint64_t ticks, std::uint64_t width) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint8_t>((static_cast<Wide>(ticks) * 255 + width - 1) / width);
}

}  // namespace

Tile draw(const Track& track, const TileKey& place, std::uint32_t first_row, std::uint32_t rows) {
  TileBuilder builder(place, first_row, rows);
  const std::uint64_t begin = place.begin(), end = place.end();
  const TrackRecord& record = track.record();
  if (track.blocks().empty() || begin > record.end || end <= record.begin) return builder.finish();
  Cursor cursor(track, track.block_before(begin));
  std::uint64_t last = cursor.time();
  std::uint32_t inner = innermost(cursor);
  bool ended = false;
  for (bool off = cursor.off(); (ended = !cursor.next_of_track()) == false;) {
    const std::uint64_t time = cursor.time();
    if (time > last) {
      if (inner != kNone) builder.add(0, inner, last, time);
      if (off) builder.add_off(last, time);
    }
    if (cursor.is_waiting()) builder.add_waiting(cursor.waited());
    if (time >= end) break;
    off = cursor.off();
    if (cursor.token() == Token::kLeave) {
      const Frame& left = cursor.frame();
      const auto depth = static_cast<std::uint32_t>(cursor.open().size());
      builder.add(depth + 1, left.region, left.begin, time);
      if (left.begin == time) builder.add(0, left.region, time, time);
    }
    inner = innermost(cursor);
    last = time;
  }
  if (!ended) {
    // A call that is left at the end of the tile was open in it.
    std::vector<Frame> open = cursor.open();
    if (cursor.token() == Token::kLeave) open.push_back(cursor.frame());
    for (std::uint32_t depth = 0; depth < open.size(); ++depth) {
      if (open[depth].begin < end)
        builder.add(depth + 1, open[depth].region, open[depth].begin, end);
    }
  }
  return builder.finish();
}

Picture picture_of(const Tile& tile, const TileKey& place) {
  Picture picture;
  picture.rows = static_cast<std::uint32_t>(tile.rows.size());
  picture.all_rows = tile.all_rows;
  picture.exact = tile.exact;
  const std::uint64_t width = place.width();
  for (std::uint32_t i = 0; i < kColumns; ++i) {
    picture.off[i] = eighth(tile.off[i], width);
    picture.waiting[i] = eighth(tile.waiting[i], width);
  }
  for (const CauseTicks& ticks : tile.causes) picture.cause.push_back(main_cause(ticks));
  for (const Row& row : tile.rows) {
    for (const Cell& cell : row) {
      picture.region.push_back(cell.region);
      const std::uint8_t cover = eighth(cell.covered, width);
      picture.cover.push_back(cell.region == kNone ? 0 : std::max<std::uint8_t>(cover, 1));
    }
  }
  return picture;
}

}  // namespace timeloom::view
