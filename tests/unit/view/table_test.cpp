// Tables of random ranges equal the tables computed from every single call.

#include <gtest/gtest.h>

#include "view_model.hpp"

namespace timeloom::view {
namespace {

// By call path of the model; a path that was not called has no visits.
using Table = std::vector<RangeSum>;

Table expected_table(const Model& model, const std::vector<std::uint32_t>& tracks,
                     std::uint64_t from, std::uint64_t to) {
  Table sums(model.number_of_ways());
  for (const std::uint32_t number : tracks) {
    const ModelTrack& track = model.tracks()[number];
    for (const ModelCall& one : track.calls) {
      const Call& call = one.call;
      if (!is_in(call.begin, call.end, from, to)) continue;
      RangeSum& sum = sums[one.way];
      const std::uint64_t duration = std::min(call.end, to) - std::max(call.begin, from);
      ++sum.visits;
      if (call.begin < from) ++sum.cut_begin;
      if (call.end > to) ++sum.cut_end;
      sum.inclusive += duration;
      sum.min = std::min(sum.min, duration);
      sum.max = std::max(sum.max, duration);
    }
    for (const auto& stretch : track.stretches) {
      const std::uint64_t begin = std::max(stretch.begin, from), end = std::min(stretch.end, to);
      if (begin >= end) continue;
      RangeSum& sum = sums[track.calls[stretch.call].way];
      sum.own += end - begin;
      const CauseTicks waited = stretch.waiting().in(begin, end);
      sum.waiting += total(waited);
      add_causes(sum.causes, waited);
    }
  }
  for (RangeSum& sum : sums) {
    if (sum.visits == 0) sum = {};
  }
  return sums;
}

// The call path of the model that each path of the index is. Callers come first.
std::vector<std::size_t> ways_of(const Model& model, const Index& index) {
  std::vector<std::size_t> ways;
  for (const auto& path : index.paths()) {
    ways.push_back(model.way(path.parent == kNone ? 0 : ways.at(path.parent), path.region));
  }
  return ways;
}

Table found_table(const Model& model, const Index& index, const std::vector<std::size_t>& ways,
                  const std::vector<std::uint32_t>& tracks, std::uint64_t from, std::uint64_t to) {
  Table table(model.number_of_ways());
  const RangeTable found = range_table(index, tracks, from, to);
  for (std::uint32_t path = 0; path < found.sums.size(); ++path) {
    if (found.sums[path].visits > 0) table[ways[path]] = found.sums[path];
  }
  return table;
}

void compare(const Table& expected, const Table& found, const std::string& what) {
  ASSERT_EQ(expected.size(), found.size()) << what;
  for (std::size_t way = 0; way < expected.size(); ++way) {
    const RangeSum &sum = expected[way], &other = found[way];
    if (sum == other) continue;
    EXPECT_EQ(sum.visits, other.visits) << what;
    EXPECT_EQ(sum.cut_begin, other.cut_begin) << what;
    EXPECT_EQ(sum.cut_end, other.cut_end) << what;
    EXPECT_EQ(sum.own, other.own) << what;
    EXPECT_EQ(sum.waiting, other.waiting) << what;
    EXPECT_EQ(sum.causes, other.causes) << what;
    EXPECT_EQ(sum.inclusive, other.inclusive) << what;
    EXPECT_EQ(sum.min, other.min) << what;
    EXPECT_EQ(sum.max, other.max) << what;
    FAIL() << what << ", path " << way;
  }
}

void compare_ranges(const RunShape& shape, int ranges) {
  Model model(shape);
  const IndexOfModel index(model);
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < shape.tracks; ++i) all.push_back(i);
  const std::vector<std::size_t> ways = ways_of(model, *index);
  compare(expected_table(model, all, 0, kLastTime),
          found_table(model, *index, ways, all, 0, kLastTime), "all");
  for (int i = 0; i < ranges && !testing::Test::HasFailure(); ++i) {
    std::uint64_t from = model.random_time(), to = model.random_time();
    if (from > to) std::swap(from, to);
    std::vector<std::uint32_t> tracks = all;
    if (model.random(2) == 0) tracks = {static_cast<std::uint32_t>(model.random(all.size()))};
    compare(expected_table(model, tracks, from, to),
            found_table(model, *index, ways, tracks, from, to),
            "seed " + std::to_string(shape.seed) + ", from " + std::to_string(from) + " to " +
                std::to_string(to));
  }
}

TEST(Table, OfRandomRangesIsExact) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    compare_ranges({.seed = seed, .tracks = 3, .events = 20'000}, 20);
  }
}

TEST(Table, OfWaitingThreadsIsExact) {
  for (std::uint64_t seed = 31; seed <= 34; ++seed) {
    compare_ranges({.seed = seed, .tracks = 3, .events = 20'000, .waiting = true}, 20);
  }
  compare_ranges({.seed = 35, .tracks = 1, .events = 400'000, .depth = 6, .waiting = true}, 5);
}

TEST(Table, OfCausesIsExact) {
  for (std::uint64_t seed = 41; seed <= 44; ++seed) {
    compare_ranges({.seed = seed, .tracks = 3, .events = 20'000, .waiting = true, .causes = true},
                   20);
  }
  compare_ranges(
      {.seed = 45, .tracks = 1, .events = 400'000, .depth = 6, .waiting = true, .causes = true}, 5);
}

TEST(Table, OfManyBlocksIsExact) {
  compare_ranges({.seed = 5, .tracks = 1, .events = 1'200'000, .depth = 6, .regions = 4}, 5);
}

TEST(Table, OfDeepStacksIsExact) {
  compare_ranges({.seed = 6, .tracks = 2, .events = 30'000, .depth = 150, .regions = 3}, 10);
}

TEST(Table, OfManyTinyTracksIsExact) {
  compare_ranges({.seed = 7, .tracks = 300, .events = 20, .depth = 4}, 30);
}

TEST(Table, OfEventsAtOneTimeIsExact) {
  compare_ranges({.seed = 8, .tracks = 2, .events = 30'000, .step = 1}, 30);
}

TEST(Table, SumsOfARangeAreItsWidth) {
  Model model({.seed = 9, .tracks = 1, .events = 100'000});
  const IndexOfModel index(model);
  const std::vector<std::uint32_t> all = {0};
  for (int i = 0; i < 20; ++i) {
    std::uint64_t from = model.random_time(), to = model.random_time();
    if (from > to) std::swap(from, to);
    std::uint64_t own = 0, covered = 0;
    for (const RangeSum& sum : range_table(*index, all, from, to).sums) own += sum.own;
    for (const auto& stretch : model.tracks()[0].stretches) {
      const std::uint64_t begin = std::max(stretch.begin, from), end = std::min(stretch.end, to);
      covered += begin < end ? end - begin : 0;
    }
    EXPECT_EQ(own, covered);
  }
}

// Beyond the limit, calls keep their number and time, in a path without a region.
TEST(Table, BeyondTheLimitOfPathsLosesNoCall) {
  Model model({.seed = 10, .tracks = 2, .events = 30'000, .depth = 20});
  const IndexOfModel index(model, 100);
  EXPECT_LE(index->paths().size(), 200u);
  std::uint64_t calls = 0, own = 0, expected_calls = 0, expected_own = 0;
  for (const RangeSum& sum :
       range_table(*index, std::vector<std::uint32_t>{0, 1}, 0, kLastTime).sums) {
    calls += sum.visits;
    own += sum.own;
  }
  for (const ModelTrack& track : model.tracks()) {
    expected_calls += track.calls.size();
    for (const auto& stretch : track.stretches) expected_own += stretch.end - stretch.begin;
  }
  EXPECT_EQ(calls, expected_calls);
  EXPECT_EQ(own, expected_own);
}

TEST(Table, OfAnEmptyRunIsEmpty) {
  Model model({.tracks = 0});
  const IndexOfModel index(model);
  EXPECT_TRUE(range_table(*index, {}, 0, kLastTime).sums.empty());
}

}  // namespace
}  // namespace timeloom::view
