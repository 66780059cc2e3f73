#include "os/clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace timeloom::os {
namespace {

TEST(Clock, NeverRunsBackwardsOnOneThread) {
  std::uint64_t last = now();
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t next = now();
    ASSERT_GE(next, last);
    last = next;
  }
}

TEST(Clock, TicksBetweenTwoComparisonsLieBetweenTheirTicks) {
  const ClockSync before = sync_clocks();
  const std::uint64_t middle = now();
  const ClockSync after = sync_clocks();
  EXPECT_LE(before.ticks, middle);
  EXPECT_LE(middle, after.ticks);
  EXPECT_LE(before.monotonic_ns, after.monotonic_ns);
}

// The line through two comparisons must meet a third one. The scheduler may interrupt between two
// reads, hence the millisecond.
TEST(Clock, ThreeComparisonsLieOnOneLine) {
  using namespace std::chrono_literals;
  const ClockSync first = sync_clocks();
  std::this_thread::sleep_for(20ms);
  const ClockSync second = sync_clocks();
  std::this_thread::sleep_for(20ms);
  const ClockSync third = sync_clocks();
  const double share = static_cast<double>(second.ticks - first.ticks) /
                       static_cast<double>(third.ticks - first.ticks);
  const double expected = static_cast<double>(first.monotonic_ns) +
                          share * static_cast<double>(third.monotonic_ns - first.monotonic_ns);
  EXPECT_NEAR(static_cast<double>(second.monotonic_ns), expected, 1e6);
}

TEST(Clock, RealTimeIsOfOurCentury) {
  const std::uint64_t year_2020 = 1577836800ull * 1'000'000'000;
  EXPECT_GT(sync_clocks().realtime_ns, year_2020);
}

TEST(Clock, WithoutACounterTicksAreNanoseconds) {
  if (clock_source() != ClockSource::kMonotonic) GTEST_SKIP() << "this machine has a counter";
  const ClockSync sync = sync_clocks();
  EXPECT_EQ(sync.ticks, sync.monotonic_ns);
}

}  // namespace
}  // namespace timeloom::os
