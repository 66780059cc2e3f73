#include "view/answers/group_tiles.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace timeloom::view {

namespace {

// The content of the tracks in one column.
struct ColumnSum {
  struct Share {
    std::uint32_t region;
    std::uint64_t cover;
  };
  std::uint64_t cover = 0;
  std::uint64_t off = 0;
  std::uint64_t waiting = 0;
  CauseTicks causes{};        // parts of it
  std::vector<Share> shares;  // by the first track

  void add(std::uint32_t region, std::uint8_t part) {
    if (part == 0) return;
    cover += part;
    const auto found = std::ranges::find(shares, region, &Share::region);
    if (found == shares.end()) {
      shares.push_back({region, part});
    } else {
      found->cover += part;
    }
  }
};

std::uint8_t mean(std::uint64_t sum, std::uint64_t count) noexcept {
  return static_cast<std::uint8_t>(count == 0 ? 0 : (sum + count - 1) / count);
}

}  // namespace

bool is_group(std::uint32_t number, const Definitions& definitions) noexcept {
  if (number == kWholeRun) return true;
  return number >= kFirstGroup && number - kFirstGroup < definitions.groups.size();
}

Picture group_picture(const Index& index, const Definitions& definitions, std::uint32_t number,
                      const TileKey& place, std::uint32_t first_row, std::uint32_t rows) {
  std::array<ColumnSum, kColumns> columns;
  std::uint64_t tracks = 0;
  bool causes = false;
  const std::size_t count = std::min(index.tracks().size(), definitions.locations.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const LocationGroupId group = definitions.locations[i].group;
    if (number != kWholeRun && group != LocationGroupId{number - kFirstGroup}) continue;
    ++tracks;
    const TrackRecord& record = index.tracks()[i];
    const bool nothing = place.begin() > record.end || place.end() <= record.begin;
    if (record.block_count == 0 || nothing) continue;
    const Picture picture = picture_at(*index.track(i), place, 0, 1);
    causes = causes || !picture.cause.empty();
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      columns[column].off += picture.off[column];
      columns[column].waiting += picture.waiting[column];
      columns[column].causes[picture.cause.empty() ? 0 : picture.cause[column]] +=
          picture.waiting[column];
      if (picture.rows > 0) columns[column].add(picture.region[column], picture.cover[column]);
    }
  }
  Picture picture;
  picture.exact = false;
  picture.rows = first_row == 0 && rows > 0 ? 1 : 0;
  for (std::uint32_t column = 0; column < kColumns; ++column) {
    const ColumnSum& sum = columns[column];
    picture.off[column] = mean(sum.off, tracks);
    picture.waiting[column] = mean(sum.waiting, tracks);
    if (causes) picture.cause.push_back(main_cause(sum.causes));
    if (picture.rows == 0) continue;
    const auto most = std::ranges::max_element(sum.shares, {}, &ColumnSum::Share::cover);
    picture.region.push_back(most == sum.shares.end() ? kNone : most->region);
    picture.cover.push_back(mean(sum.cover, tracks));
  }
  return picture;
}

}  // namespace timeloom::view
