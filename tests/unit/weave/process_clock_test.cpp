#include "weave/process_clock.hpp"

#include <gtest/gtest.h>

namespace timeloom::weave {
namespace {

using os::ClockSource;
using os::ClockSync;

std::uint64_t ns(const ProcessClock& clock, std::uint64_t at) { return ticks(clock.to_time(at)); }

TEST(ProcessClock, DrawsALineThroughTheFirstAndTheLastComparison) {
  const std::vector<ClockSync> syncs{{1000, 50'000, 0}, {1500, 99'999'999, 0}, {3000, 54'000, 0}};
  const ProcessClock clock(ClockSource::kTsc, syncs);
  EXPECT_EQ(ns(clock, 1000), 50'000u);
  EXPECT_EQ(ns(clock, 2000), 52'000u);
  EXPECT_EQ(ns(clock, 3000), 54'000u);
  EXPECT_EQ(ns(clock, 4000), 56'000u);
  EXPECT_EQ(ns(clock, 500), 49'000u);
}

TEST(ProcessClock, NanosecondsStayNanoseconds) {
  const std::vector<ClockSync> syncs{{70, 70, 0}, {90, 95, 0}};
  const ProcessClock clock(ClockSource::kMonotonic, syncs);
  EXPECT_EQ(ns(clock, 1'000'000'000'000), 1'000'000'000'000u);
  EXPECT_EQ(ns(ProcessClock(ClockSource::kMonotonic, {}), 12345), 12345u);
}

// The clock of another host, which is 7 s behind and loses 1 us per second.
TEST(ProcessClock, PutsTheClockOfAHostOnThatOfRankZero) {
  const std::vector<ClockSync> syncs{{0, 1'000'000'000, 0}, {4'000'000'000, 3'000'000'000, 0}};
  const std::vector<ClockOffset> offsets{{1'000'000'000, 7'000'000'000},
                                         {3'000'000'000, 7'000'002'000}};
  const ProcessClock clock(ClockSource::kTsc, syncs, offsets);
  EXPECT_EQ(ns(clock, 0), 8'000'000'000u);
  EXPECT_NEAR(static_cast<double>(ns(clock, 4'000'000'000)), 10'000'002'000.0, 2);
  const ProcessClock behind(ClockSource::kTsc, syncs, {{1'000'000'000, -400'000'000}});
  EXPECT_EQ(ns(behind, 0), 600'000'000u);
}

TEST(ProcessClock, IsExactOverYears) {
  constexpr std::uint64_t kHour = std::uint64_t{3600} * 2'500'000'000;  // ticks of 0.4 ns
  const std::vector<ClockSync> syncs{{0, 0, 0}, {kHour, kHour / 5 * 2, 0}};
  const ProcessClock clock(ClockSource::kTsc, syncs);
  EXPECT_NEAR(static_cast<double>(ns(clock, kHour * 24 * 365)),
              static_cast<double>(kHour / 5 * 2 * 24 * 365), 1e6);
}

TEST(ProcessClock, OneComparisonTakesTheSpeedOfThisMachine) {
  const os::ClockSync now = os::sync_clocks();
  const ProcessClock clock(os::clock_source(), {now});
  EXPECT_EQ(ns(clock, now.ticks), now.monotonic_ns);
  const os::ClockSync later = os::sync_clocks();
  EXPECT_NEAR(static_cast<double>(ns(clock, later.ticks)), static_cast<double>(later.monotonic_ns),
              1e6);
}

TEST(ProcessClock, WithoutAComparisonTheSpeedIsThatOfThisMachine) {
  const os::ClockSync one = os::sync_clocks();
  const ProcessClock known(os::clock_source(), {one});
  const ProcessClock clock(os::clock_source(), {});
  const auto length = [&](const ProcessClock& any) {
    return static_cast<double>(ns(any, one.ticks + 1'000'000'000) - ns(any, one.ticks));
  };
  EXPECT_NEAR(length(clock), length(known), 1);
}

// Whatever a damaged spool contains, times stay in order and far from overflow.
TEST(ProcessClock, NeverWraps) {
  const std::vector<std::vector<ClockSync>> odd = {
      {},
      {{UINT64_MAX, UINT64_MAX, 0}},
      {{0, 0, 0}, {1, UINT64_MAX, 0}},
      {{0, 0, 0}, {UINT64_MAX, 1, 0}},
      {{5, 5, 0}, {4, 9, 0}},
      {{1u << 20, 3, 0}, {1u << 30, 1u << 30, 0}},
  };
  for (const auto& syncs : odd) {
    for (const ClockSource source : {ClockSource::kMonotonic, ClockSource::kTsc}) {
      const ProcessClock clock(source, syncs);
      std::uint64_t last = 0;
      for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t time = ns(clock, std::uint64_t{1} << bit);
        EXPECT_GE(time, last);
        EXPECT_LT(time, std::uint64_t{1} << 63);
        last = time;
      }
    }
  }
}

}  // namespace
}  // namespace timeloom::weave
