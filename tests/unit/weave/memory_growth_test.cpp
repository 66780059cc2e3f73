// Memory that only grows is told from a peak, a single large block, and a cache that fills up.
#include "weave/memory/memory_growth.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace timeloom::weave {
namespace {

constexpr std::uint64_t kMB = 1'000'000;

// A thousand records of blocks of path 2 (every fourth of path 3), `live(time)` MB held, with the
// time from 0 to 1.
spool::MemoryData memory_of(const std::function<double(double)>& live) {
  spool::MemoryData data;
  data.interval = 1;
  data.start = 5000;
  data.paths.resize(4);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double held = live(static_cast<double>(i) / 1000);
    const auto bytes = static_cast<std::uint64_t>(held * static_cast<double>(kMB));
    data.blocks.push_back({data.start + i, i % 4 == 0 ? 3u : 2u, 100'000, bytes});
    data.peak = std::max(data.peak, bytes);
  }
  return data;
}

std::optional<GrowthOfProcess> growth_in(const std::function<double(double)>& live) {
  const spool::MemoryData data = memory_of(live);
  return find_growth(data, data.start + 1000);
}

TEST(MemoryGrowth, SteadyGrowthNamesThePathThatHoldsMost) {
  const auto found = growth_in([](double time) { return 20 + 100 * time; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from / kMB, 30u);  // in the second slice at its least
  EXPECT_EQ(found->to / kMB, 100u);
  EXPECT_EQ(found->path, 2u);
  EXPECT_EQ(found->to_ticks - found->from_ticks, 707u);
  EXPECT_DOUBLE_EQ(found->of_path, 530 * 100'000.0);  // three of four of 707
}

TEST(MemoryGrowth, ASawtoothThatRisesGrows) {
  const auto teeth = [](double time) {
    return 20 + 100 * time + 30 * (time * 50 - static_cast<int>(time * 50));
  };
  EXPECT_TRUE(growth_in(teeth));
}

TEST(MemoryGrowth, OtherShapesAreNone) {
  EXPECT_FALSE(growth_in([](double) { return 100; }));
  EXPECT_FALSE(growth_in([](double time) { return time < 0.5 ? 20 + 200 * time : 120; }));
  EXPECT_FALSE(growth_in([](double time) { return time < 0.5 ? 20 : 120; }));
  EXPECT_FALSE(growth_in([](double time) { return 20 + 400 * time * (1 - time); }));
  EXPECT_FALSE(growth_in([](double time) { return 20 + 30 * time; }));    // too little
  EXPECT_FALSE(growth_in([](double time) { return 900 + 100 * time; }));  // of the peak, too
}

TEST(MemoryGrowth, RecordsWithoutTimeAreNone) {
  spool::MemoryData data = memory_of([](double time) { return 20 + 100 * time; });
  EXPECT_FALSE(find_growth(data, data.start));
  EXPECT_FALSE(find_growth(data, 0));
  data.blocks.clear();
  EXPECT_FALSE(find_growth(data, data.start + 1000));
}

}  // namespace
}  // namespace timeloom::weave
