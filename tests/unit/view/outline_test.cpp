// The outline of a run agrees with its index: tables of whole steps, and pictures of its levels.

#include "view/page/outline.hpp"

#include <gtest/gtest.h>

#include "view/answers/group_tiles.hpp"
#include "view/index/tile.hpp"
#include "view_model.hpp"

namespace timeloom::view {
namespace {

std::uint32_t number_at(std::string_view bytes, std::size_t place) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + 4 * place, sizeof number);
  return number;
}
ByteReader reader_of(std::string_view bytes, std::size_t from) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()) + from, bytes.size() - from};
}

// Computes tables from the sums of a track, as the page does.
class Reader {
 public:
  Reader(std::string_view section, unsigned level, std::vector<RangeSum>& sums)
      : section_(section), level_(level), sums_(sums), nodes_(number_at(section, 1)) {}

  void add(std::uint64_t first_step, std::uint64_t end_step) {
    const std::uint64_t from = first_step << (2 * level_), to = end_step << (2 * level_);
    ByteReader in = reader_of(section_, 4 * (2 + nodes_));
    std::uint64_t begin = 0;
    for (std::uint64_t left = in.varint(); left > 0; --left) {
      const auto node = static_cast<std::uint32_t>(in.varint());
      begin += in.varint();
      const std::uint64_t end = begin + in.varint();
      if (is_in(begin, end, from, to)) add_call(node, begin, end, from, to);
    }
    std::uint64_t step = 0;
    while (!in.at_end()) {
      step += in.varint();
      std::string list;
      for (std::uint64_t left = in.varint(); left > 0; --left) {
        list += static_cast<char>(in.byte());
      }
      if (step < first_step || step >= end_step) continue;
      read_list(reader_of(list, 0), nodes_, [&](std::uint32_t node, const PathSum& part) {
        RangeSum& sum = sum_of(node);
        sum.own += part.own;
        sum.waiting += part.waiting;
        add_causes(sum.causes, part.causes);
        sum.visits += part.leaves;
        if (part.leaves == 0) return;
        sum.min = std::min(sum.min, part.min);
        sum.max = std::max(sum.max, part.max);
      });
    }
  }

 private:
  RangeSum& sum_of(std::uint32_t node) { return sums_.at(number_at(section_, 2 + node)); }
  void add_call(std::uint32_t node, std::uint64_t begin, std::uint64_t end, std::uint64_t from,
                std::uint64_t to) {
    RangeSum& sum = sum_of(node);
    const std::uint64_t duration = std::min(end, to) - std::max(begin, from);
    ++sum.visits;
    if (begin < from) ++sum.cut_begin;
    if (end > to) ++sum.cut_end;
    sum.min = std::min(sum.min, duration);
    sum.max = std::max(sum.max, duration);
  }

  std::string_view section_;
  unsigned level_;
  std::vector<RangeSum>& sums_;
  std::uint32_t nodes_;
};

std::vector<RangeSum> found_sums(const Index& index, const OutlineSums& outline,
                                 const std::vector<std::uint32_t>& tracks, std::uint64_t first_step,
                                 std::uint64_t end_step) {
  std::vector<RangeSum> sums(index.paths().size());
  for (const std::uint32_t track : tracks) {
    const std::string& section = outline.sections.at(track);
    if (section.empty()) continue;
    EXPECT_EQ(number_at(section, 0), track);
    Reader(section, outline.level, sums).add(first_step, end_step);
  }
  for (std::size_t i = sums.size(); i-- > 0;) {
    sums[i].inclusive += sums[i].own;
    const std::uint32_t parent = index.paths()[i].parent;
    if (parent != kNone) sums[parent].inclusive += sums[i].inclusive;
  }
  return sums;
}

void compare_sums(const RunShape& shape, const OutlineLimits& limits, unsigned level) {
  Model model(shape);
  const IndexOfModel index(model);
  const OutlineSums outline = outline_sums(*index, limits);
  EXPECT_EQ(outline.level, level);
  std::uint64_t end = 0;
  for (const ModelTrack& track : model.tracks()) end = std::max(end, track.end);
  const std::uint64_t steps = (end >> (2 * outline.level)) + 1;
  for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
    std::uint64_t first = i == 0 ? 0 : model.random(steps);
    std::uint64_t last = i == 0 ? steps : first + 1 + model.random(steps - first);
    if (i % 5 == 1) last = first + 1;
    std::vector<std::uint32_t> tracks;
    for (std::uint32_t track = 0; track < shape.tracks; ++track) {
      if (i < 20 || model.random(2) == 0) tracks.push_back(track);
    }
    const std::uint64_t from = first << (2 * outline.level), to = last << (2 * outline.level);
    const RangeTable expected = range_table(*index, tracks, from, to);
    EXPECT_EQ(found_sums(*index, outline, tracks, first, last), expected.sums)
        << "seed " << shape.seed << ", steps " << first << " to " << last;
  }
}

TEST(Outline, SumsOfWholeStepsAreExact) {
  const OutlineLimits many{.sum_bytes = 1 << 30, .steps = 4096};
  compare_sums({.seed = 1, .tracks = 3, .events = 20'000, .waiting = true}, many, 5);
  compare_sums({.seed = 2, .tracks = 3, .events = 20'000, .depth = 40}, many, 5);
  compare_sums({.seed = 11, .tracks = 3, .events = 20'000, .waiting = true, .causes = true}, many,
               5);
  // Many events at the ends of steps.
  compare_sums({.seed = 3, .tracks = 4, .events = 3000, .step = 3, .waiting = true}, many, 1);
  compare_sums({.seed = 4, .tracks = 40, .events = 20, .depth = 4}, many, 0);
  // Nearly all events at the same time.
  compare_sums({.seed = 10, .tracks = 3, .events = 2000, .step = 1}, many, 1);
}

TEST(Outline, SumsThatAreTooLargeHaveLongerSteps) {
  const RunShape shape{.seed = 5, .tracks = 3, .events = 20'000, .depth = 4, .waiting = true};
  compare_sums(shape, {.sum_bytes = 1 << 30, .steps = 16}, 8);
  compare_sums(shape, {.sum_bytes = 100'000, .steps = 4096}, 9);
  // The sums of one step are always present.
  compare_sums(shape, {.sum_bytes = 0, .steps = 4096}, 10);
}

// A tile's bytes as the page draws them.
struct Seen {
  std::uint64_t all_rows = 0;
  std::uint64_t exact = 0;
  std::vector<std::uint8_t> off, waiting, cause, cover;
  std::vector<std::uint32_t> region;
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen seen(const Picture& picture) {
  return {picture.all_rows,
          picture.exact,
          {picture.off.begin(), picture.off.end()},
          {picture.waiting.begin(), picture.waiting.end()},
          picture.cause,
          picture.cover,
          picture.region};
}

std::map<std::pair<unsigned, std::uint64_t>, Seen> tiles_in(std::string_view section) {
  std::map<std::pair<unsigned, std::uint64_t>, Seen> tiles;
  for (ByteReader in = reader_of(section, 4); !in.at_end();) {
    const auto level = static_cast<unsigned>(in.varint());
    const std::uint64_t index = in.varint();
    Seen tile;
    tile.exact = in.varint();
    static_cast<void>(in.varint());
    tile.all_rows = in.varint();
    const std::uint64_t head = in.varint(), rows = head % 256;
    std::vector<std::vector<std::uint8_t>*> parts = {&tile.off, &tile.waiting};
    if (head >= 256) parts.push_back(&tile.cause);
    for (std::vector<std::uint8_t>* row : parts) {
      while (row->size() < kColumns) {
        const std::uint64_t columns = in.varint();
        row->insert(row->end(), columns, in.byte());
      }
    }
    while (tile.cover.size() < rows * kColumns) {
      const std::uint64_t columns = in.varint();
      tile.cover.insert(tile.cover.end(), columns, in.byte());
      tile.region.insert(tile.region.end(), columns, static_cast<std::uint32_t>(in.varint() - 1));
    }
    tiles[{level, index}] = tile;
  }
  return tiles;
}

// Returns the finest level.
unsigned compare_outline_tiles(const RunShape& shape, std::size_t most_bytes,
                               std::uint32_t rows = kStoredRows) {
  Model model(shape);
  const IndexOfModel index(model);
  const OutlineTiles outline = outline_tiles(*index, model.definitions(), most_bytes);
  EXPECT_EQ(outline.sections.size(), shape.tracks + 2);
  EXPECT_EQ(outline.rows, rows);
  std::uint64_t end = 0;
  for (const ModelTrack& track : model.tracks()) end = std::max(end, track.end);
  unsigned coarsest = 0;
  while (TileKey{coarsest, 1}.begin() <= end) ++coarsest;
  for (std::size_t i = 0; i < outline.sections.size() && !testing::Test::HasFailure(); ++i) {
    const bool track = i < shape.tracks;
    const std::uint32_t number = track               ? static_cast<std::uint32_t>(i)
                                 : i == shape.tracks ? kFirstGroup
                                                     : kWholeRun;
    EXPECT_EQ(number_at(outline.sections[i], 0), number);
    auto tiles = tiles_in(outline.sections[i]);
    for (unsigned level = outline.finest; level <= coarsest; ++level) {
      for (TileKey place{level, 0}; place.begin() <= end; ++place.index) {
        const Picture expected =
            track ? picture_at(*index->track(number), place, 0, rows)
                  : group_picture(*index, model.definitions(), number, place, 0, 1);
        const auto found = tiles.extract({level, place.index});
        if (found.empty()) {
          EXPECT_EQ(expected.all_rows, 1u);
          EXPECT_EQ(std::ranges::max(expected.cover), 0);
        } else {
          EXPECT_EQ(found.mapped(), seen(expected)) << number << ", " << level;
        }
      }
    }
    EXPECT_TRUE(tiles.empty());
  }
  return outline.finest;
}

TEST(Outline, TilesAreThoseOfTheIndex) {
  const RunShape shape{.seed = 6, .tracks = 3, .events = 70'000, .waiting = true};
  EXPECT_EQ(compare_outline_tiles(shape, 1'500'000), 4u);
  compare_outline_tiles(
      {.seed = 12, .tracks = 3, .events = 70'000, .waiting = true, .causes = true}, 1'500'000);
  EXPECT_EQ(compare_outline_tiles({.seed = 8, .tracks = 3, .events = 2000}, 1 << 30), 0u);
  EXPECT_EQ(
      compare_outline_tiles({.seed = 7, .tracks = 2, .events = 10'000, .depth = 200}, 500'000), 2u);
}

TEST(Outline, TilesThatAreTooLargeHaveFewerRows) {
  const RunShape shape{.seed = 9, .tracks = 20, .events = 3000, .depth = 60};
  EXPECT_EQ(compare_outline_tiles(shape, 25'000, 32), 6u);
  // One row of one level is always present.
  EXPECT_EQ(compare_outline_tiles(shape, 0, 1), 6u);
}

TEST(Outline, OfAnEmptyRunIsEmpty) {
  Model model({.tracks = 0});
  const IndexOfModel index(model);
  EXPECT_TRUE(outline_sums(*index, {}).sections.empty());
  EXPECT_EQ(outline_tiles(*index, model.definitions(), 1000).sections.size(), 2u);
}

// Checks that the sections have the longest calls of the tracks, with all of their callers.
void compare_longest(const RunShape& shape, std::size_t most) {
  Model model(shape);
  const IndexOfModel index(model);
  std::size_t all = 0;
  for (const std::string& section : longest_calls(*index, most)) {
    const std::uint32_t track = number_at(section, 0), count = number_at(section, 2);
    std::vector<double> times(2 * count);
    std::memcpy(times.data(), section.data() + 24, 16 * std::size_t{count});
    std::vector<std::uint64_t> found, expected;
    std::vector<double> ends;  // of the open calls
    for (std::uint32_t i = 0; i < count; ++i) {
      found.push_back(static_cast<std::uint64_t>(times[count + i] - times[i]));
      const std::size_t padded_count = (count + 1) / 2 * 2;
      const std::uint32_t depth = number_at(section, 6 + 4 * count + 2 * padded_count + i);
      ASSERT_LE(depth, ends.size()) << "a caller is missing";
      ends.resize(depth);
      if (depth > 0) {
        EXPECT_LE(times[count + i], ends.back());
      }
      ends.push_back(times[count + i]);
    }
    for (const ModelCall& one : model.tracks()[track].calls) {
      if (one.call.end > one.call.begin) expected.push_back(one.call.end - one.call.begin);
    }
    std::ranges::sort(found, std::greater());
    std::ranges::sort(expected, std::greater());
    ASSERT_LE(found.size(), expected.size());
    const bool complete = number_at(section, 3) == 1;
    EXPECT_TRUE(!complete || found.size() == expected.size());
    EXPECT_TRUE(complete || expected.size() >= most / shape.tracks) << "there was room for all";
    expected.resize(found.size());
    EXPECT_EQ(found, expected);
    all += found.size();
  }
  EXPECT_LE(all, most);
  EXPECT_GT(2 * all, most);
}

TEST(Outline, HasTheLongestCallsAndTheirCallers) {
  for (std::uint64_t seed = 61; seed <= 64; ++seed) {
    compare_longest({.seed = seed, .tracks = 3, .events = 3'000}, 900);
    compare_longest({.seed = seed, .tracks = 2, .events = 2'000, .step = 2}, 300);
  }
  compare_longest({.seed = 65, .tracks = 2, .events = 300}, 190);
  compare_longest({.seed = 66, .tracks = 2, .events = 300}, 400);
}

}  // namespace
}  // namespace timeloom::view
