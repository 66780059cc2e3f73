// The pictures of an outline.
//
// For each track, process and the run: varints of the level, of the position within the level, of 1
// if the picture is exact, and of the number of bytes; then the bytes of a tile as in the index.
// Empty tiles are left out.

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/parallel.hpp"
#include "view/answers/group_tiles.hpp"
#include "view/index/tile.hpp"
#include "view/page/outline.hpp"

namespace timeloom::view {

namespace {

// A tile counts with at least this many bytes, so that the number of empty tiles is limited.
constexpr std::size_t kLeastBytes = 128;

bool is_empty(const Picture& picture) {
  const auto is_zero = [](std::uint8_t part) { return part == 0; };
  return picture.all_rows == 1 && std::ranges::all_of(picture.off, is_zero) &&
         std::ranges::all_of(picture.waiting, is_zero) &&
         std::ranges::all_of(picture.cover, is_zero);
}

// An item with its own row: a track, a process, or the run.
struct Shown {
  std::uint32_t number = 0;
  std::uint64_t begin = 0, end = 0;  // of its events
};

std::vector<Shown> all_shown(const Index& index, const Definitions& definitions) {
  std::vector<Shown> all;
  Shown run{kWholeRun, 0, 0};
  for (std::uint32_t i = 0; i < index.tracks().size(); ++i) {
    all.push_back({i, index.tracks()[i].begin, index.tracks()[i].end});
    run.end = std::max(run.end, index.tracks()[i].end);
  }
  for (std::uint32_t i = 0; i < definitions.groups.size(); ++i) {
    all.push_back({kFirstGroup + i, 0, run.end});
  }
  all.push_back(run);
  return all;
}

class LevelWriter {
 public:
  // Tiles of at most `rows` rows; stops early when they exceed `most` bytes.
  LevelWriter(const Index& index, const Definitions& definitions, unsigned level,
              std::uint32_t rows, std::size_t most)
      : index_(index), definitions_(definitions), level_(level), rows_(rows), most_(most) {}

  // In the order of `all`.
  std::vector<std::string> write(const std::vector<Shown>& all) {
    std::vector<std::string> made(all.size());
    for_each_in_parallel(all.size(), std::max(1u, std::thread::hardware_concurrency()),
                         [&](std::size_t i) { made[i] = tiles_of(all[i]); });
    return made;
  }
  bool is_complete() const noexcept { return bytes_ <= most_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::string tiles_of(const Shown& shown) {
    std::string bytes;
    if (shown.number < index_.tracks().size() && index_.tracks()[shown.number].block_count == 0) {
      return bytes;
    }
    for (TileKey place{level_, shown.begin / (kColumns * TileKey{level_, 0}.width())};
         place.begin() <= shown.end && bytes_ <= most_; ++place.index) {
      const std::size_t before = bytes.size();
      const Picture picture = picture_of_shown(shown.number, place);
      if (!is_empty(picture)) append(bytes, place, picture);
      bytes_ += std::max(kLeastBytes, bytes.size() - before);
    }
    return bytes;
  }
  Picture picture_of_shown(std::uint32_t number, const TileKey& place) const {
    if (number >= kFirstGroup) return group_picture(index_, definitions_, number, place, 0, 1);
    return picture_at(*index_.track(number), place, 0, rows_);
  }
  static void append(std::string& to, const TileKey& place, const Picture& picture) {
    const std::string tile = encoded(picture);
    append_varint(to, place.level);
    append_varint(to, place.index);
    append_varint(to, picture.exact ? 1 : 0);
    append_varint(to, tile.size());
    to += tile;
  }

  const Index& index_;
  const Definitions& definitions_;
  unsigned level_;
  std::uint32_t rows_;
  std::size_t most_;
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace

OutlineTiles outline_tiles(const Index& index, const Definitions& definitions,
                           std::size_t most_bytes) {
  const std::vector<Shown> all = all_shown(index, definitions);
  OutlineTiles tiles;
  while (tiles.finest < kLastLevel && TileKey{tiles.finest, 1}.begin() <= all.back().end) {
    ++tiles.finest;
  }
  for (const Shown& shown : all) {
    tiles.sections.emplace_back(record_bytes(&shown.number, 1));
  }
  std::size_t left = most_bytes;
  for (unsigned level = tiles.finest;;) {
    const bool first = level == tiles.finest && left == most_bytes;
    const bool always = first && tiles.rows == 1;
    LevelWriter writer(index, definitions, level, tiles.rows, always ? SIZE_MAX / 2 : left);
    const std::vector<std::string> made = writer.write(all);
    if (!writer.is_complete()) {
      if (!first) return tiles;
      tiles.rows /= 2;
      continue;
    }
    for (std::size_t i = 0; i < all.size(); ++i) tiles.sections[i] += made[i];
    tiles.finest = level;
    left -= std::min(left, writer.bytes());
    if (level-- == 0) return tiles;
  }
}

}  // namespace timeloom::view
