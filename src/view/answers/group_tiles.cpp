#include "view/answers/group_tiles.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/waiting/cause_names.hpp"
#include "core/waiting_metric.hpp"

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

FirstRows::FirstRows(const Definitions& definitions)
    : definitions_(definitions), causes_(has_causes(definitions)) {
  if (std::ranges::none_of(definitions.metrics, &Metric::is_waiting)) return;
  for (std::uint32_t i = 0; i < definitions.regions.size(); ++i) {
    if (is_suspension(definitions.regions[i])) suspensions_.push_back(i);
  }
}

Picture FirstRows::of(const Track& track, const TileKey& place) const {
  if (suspensions_.empty()) return picture_at(track, place, 0, 1);
  Picture picture = picture_at(track, place, 0, kStoredRows);
  for (std::uint32_t column = 0; column < kColumns; ++column) count(picture, column);
  return picture;
}

// Adds the suspension in a column to its waiting.
void FirstRows::count(Picture& picture, std::uint32_t column) const {
  std::uint8_t cover = 0;
  std::uint32_t row = 0;
  for (std::uint32_t i = picture.rows; i-- > 1;) {
    const std::uint32_t cell = i * kColumns + column;
    if (picture.cover[cell] <= cover || !suspends(picture.region[cell])) continue;
    cover = picture.cover[cell];
    row = i;
  }
  if (cover <= picture.waiting[column]) return;
  picture.waiting[column] = cover;
  if (!causes_) return;
  picture.cause.resize(kColumns);
  SuspensionCause cause;
  for (std::uint32_t around = row; around-- > 1;) {
    const std::uint32_t region = picture.region[around * kColumns + column];
    if (region >= definitions_.regions.size()) break;
    if (!cause.take(definitions_.regions[region].name)) break;
  }
  picture.cause[column] = static_cast<std::uint8_t>(cause.cause());
}

bool FirstRows::suspends(std::uint32_t region) const {
  return std::ranges::find(suspensions_, region) != suspensions_.end();
}

bool is_group(std::uint32_t number, const Definitions& definitions) noexcept {
  if (number == kWholeRun) return true;
  return number >= kFirstGroup && number - kFirstGroup < definitions.groups.size();
}

Picture mixed_picture(const Index& index, const Definitions& definitions,
                      std::span<const std::uint32_t> tracks, const TileKey& place) {
  std::array<ColumnSum, kColumns> columns;
  const FirstRows first(definitions);
  bool causes = false;
  for (const std::uint32_t number : tracks) {
    const TrackRecord& record = index.tracks()[number];
    const bool nothing = place.begin() > record.end || place.end() <= record.begin;
    if (record.block_count == 0 || nothing) continue;
    const Picture picture = first.of(*index.track(number), place);
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
  picture.rows = 1;
  for (std::uint32_t column = 0; column < kColumns; ++column) {
    const ColumnSum& sum = columns[column];
    picture.off[column] = mean(sum.off, tracks.size());
    picture.waiting[column] = mean(sum.waiting, tracks.size());
    if (causes) picture.cause.push_back(main_cause(sum.causes));
    const auto most = std::ranges::max_element(sum.shares, {}, &ColumnSum::Share::cover);
    picture.region.push_back(most == sum.shares.end() ? kNone : most->region);
    picture.cover.push_back(mean(sum.cover, tracks.size()));
  }
  return picture;
}

Picture group_picture(const Index& index, const Definitions& definitions, std::uint32_t number,
                      const TileKey& place, std::uint32_t first_row, std::uint32_t rows) {
  std::vector<std::uint32_t> tracks;
  const std::size_t count = std::min(index.tracks().size(), definitions.locations.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const LocationGroupId group = definitions.locations[i].group;
    const bool all = number == kWholeRun;
    if (all || group == LocationGroupId{number - kFirstGroup}) tracks.push_back(i);
  }
  Picture picture = mixed_picture(index, definitions, tracks, place);
  if (first_row == 0 && rows > 0) return picture;
  picture.rows = 0;
  picture.region.clear();
  picture.cover.clear();
  return picture;
}

}  // namespace timeloom::view
