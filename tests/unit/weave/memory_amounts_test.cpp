// What call paths held, from births and deaths of blocks, and the peak of several processes.
#include "weave/memory/memory_amounts.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace timeloom::weave {
namespace {

constexpr std::uint64_t kDeath = spool::MemoryBlock::kDeath;
constexpr std::uint64_t kWhole = spool::MemoryBlock::kWhole;

profile::MetricStatistics value(double bytes) {
  profile::MetricStatistics statistics;
  statistics.add_value(bytes);
  return statistics;
}

TEST(MemoryAmounts, BlocksCountUntilTheirDeath) {
  spool::MemoryData data;
  data.interval = 1000;
  data.paths.resize(4);
  data.blocks = {{1, 3 | kWhole, 500, 500}, {2, 2, 1000, 1500}, {3, 0 | kDeath, 500, 1000}};
  const auto at_peak = held_after(data, 2);
  EXPECT_DOUBLE_EQ(at_peak[3].sum, 500);
  EXPECT_DOUBLE_EQ(at_peak[2].sum, 1000 / (1 - std::exp(-1.0)));
  const auto at_end = held_after(data, 3);
  EXPECT_EQ(at_end[3].count, 0u);
  EXPECT_EQ(at_end[2].count, 1u);
}

TEST(MemoryAmounts, BlocksThatAreFreedWithinAMillisecondAreTemporary) {
  spool::MemoryData data;
  data.interval = 1;
  data.paths.resize(4);
  data.blocks = {{10, 2 | kWhole, 500, 500},
                 {20, 3 | kWhole, 700, 1200},
                 {1'000'010, 0 | kDeath, 500, 700},
                 {1'000'021, 1 | kDeath, 700, 0}};
  const ProcessClock clock{os::ClockSource::kMonotonic, {}};
  const auto sums = temporary_blocks(data, clock);
  EXPECT_EQ(sums[2].count, 1u);
  EXPECT_DOUBLE_EQ(sums[2].sum, 500);
  EXPECT_EQ(sums[3].count, 0u);
}

// The tree has main and main/solve; paths go through other regions as well.
TEST(MemoryAmounts, PathsCountForTheirLongestPartInTheTree) {
  profile::CallTree tree;
  tree.nodes = {{profile::NodeId{}, RegionId{5}, 0}, {profile::NodeId{0}, RegionId{6}, 1}};
  tree.locations.resize(1);
  tree.definitions.locations.emplace_back().id = LocationId{0};
  std::vector<MemoryOfPath> paths(6);
  const auto path = [&](std::size_t number, std::size_t parent, std::uint32_t region,
                        double bytes) {
    paths[number] = {LocationId{0}, parent, RegionId{region}, value(bytes), {}, {}, {}, {}};
  };
  paths[0] = {LocationId{0}, 0, RegionId{}, value(1), {}, {}, {}, {}};  // the thread
  path(1, 0, 5, 2);
  path(2, 1, 6, 4);
  path(3, 2, 7, 8);
  path(4, 3, 6, 16);  // inside a region that is not there
  path(5, 0, 6, 32);  // not even the first one
  paths[1].heap = value(300);
  add_memory(tree, paths);
  ASSERT_EQ(tree.definitions.metrics.size(), 6u);
  ASSERT_EQ(tree.locations[0].metrics.size(), 3u);
  EXPECT_EQ(tree.locations[0].metrics[0].statistics.sum, 2);
  EXPECT_EQ(tree.locations[0].metrics[1].statistics.sum, 4 + 8 + 16);
  EXPECT_EQ(tree.definitions.metrics[5].name, "maximum_heap_memory_allocated");
  EXPECT_EQ(tree.locations[0].metrics[2].metric, MetricId{5});
  EXPECT_EQ(tree.locations[0].metrics[2].statistics.max, 300);
}

TEST(MemoryAmounts, CommonPeakIsOfOneInstant) {
  CommonPeak common;
  common.add(10, 0, 100);
  common.add(20, 0, 0);
  common.add(15, 1, 30);
  common.add(30, 1, 90);
  const ProcessMemory peak = common.find();
  EXPECT_EQ(peak.peak, 130u);
  EXPECT_EQ(peak.peak_time, 15u);
}

}  // namespace
}  // namespace timeloom::weave
