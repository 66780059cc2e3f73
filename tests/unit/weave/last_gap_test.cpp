// The time after a thread's last event, as far as it is known.
#include "weave/last_gap.hpp"

#include <gtest/gtest.h>

#include "weave/event_translator.hpp"

namespace timeloom::weave {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// Ticks are nanoseconds. The thread ran for 1 ms of the 10 between the two readings.
const ProcessClock kClock(os::ClockSource::kMonotonic, {});
const spool::LastClocks kClocks{{100 * kMs, 500 * kMs, 7 * kMs}, {110 * kMs, 510 * kMs, 8 * kMs}};

std::optional<LastGap> gap(std::uint64_t last, std::uint64_t end,
                           const spool::LastClocks& clocks = kClocks) {
  return last_gap(clocks, last * kMs, kClock, Timestamp{end * kMs});
}

TEST(LastGapTest, WaitingIsWhatTheThreadDidNotRunUpToTheLastLook) {
  const auto seen_at_end = gap(100, 110);
  EXPECT_EQ(seen_at_end->waited, 9 * kMs);
  EXPECT_EQ(ticks(seen_at_end->measured_until), 110 * kMs);
  EXPECT_FALSE(seen_at_end->unmeasured);
}

TEST(LastGapTest, WhatFollowsTheLastLookIsUnmeasured) {
  const auto looked = gap(100, 150);
  EXPECT_EQ(looked->waited, 9 * kMs);
  EXPECT_EQ(ticks(looked->measured_until), 110 * kMs);
  EXPECT_TRUE(looked->unmeasured);
}

TEST(LastGapTest, NoWaitingIsLongerThanTheGap) {
  EXPECT_EQ(gap(106, 110)->waited, 4 * kMs);
  EXPECT_EQ(gap(100, 103)->waited, 3 * kMs);  // read after the end
  EXPECT_FALSE(gap(100, 103)->unmeasured);
}

TEST(LastGapTest, WithoutALookAllIsUnmeasured) {
  spool::LastClocks torn = kClocks;
  torn.at_event.ticks = 0;
  for (const auto& clocks : {spool::LastClocks{}, torn}) {
    const auto unseen = gap(100, 150, clocks);
    EXPECT_EQ(unseen->waited, 0u);
    EXPECT_EQ(ticks(unseen->measured_until), 100 * kMs);
    EXPECT_TRUE(unseen->unmeasured);
  }
  EXPECT_TRUE(gap(120, 150)->unmeasured);  // the last reading was before the last event
  EXPECT_EQ(gap(120, 150)->waited, 0u);
}

TEST(LastGapTest, AShortTimeIsNoGap) {
  EXPECT_FALSE(last_gap(kClocks, 100 * kMs, kClock, Timestamp{100 * kMs + kShortGap}));
  EXPECT_FALSE(gap(100, 90));
}

TEST(LastGapTest, TheGapLiesInTheInnermostRegion) {
  ProcessIds ids;
  ids.regions.set(0, 0);
  ids.unmeasured = 9;
  EventTranslator translator(ids, kClock, Timestamp{});
  std::vector<Event> batch{{Timestamp{100 * kMs}, EventKind::kEnter, 0, 0}};
  translator.translate(batch);
  translator.close(Timestamp{150 * kMs}, gap(100, 150), batch);
  const std::vector<std::tuple<std::uint64_t, EventKind, std::uint32_t, std::uint64_t>> expected{
      {110, EventKind::kWaiting, 0, 9 * kMs},
      {110, EventKind::kEnter, 9, 0},
      {150, EventKind::kLeave, 9, 0},
      {150, EventKind::kLeave, 0, 0}};
  ASSERT_EQ(batch.size(), expected.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    EXPECT_EQ(std::tuple(ticks(batch[i].time) / kMs, batch[i].kind, batch[i].ref, batch[i].value),
              expected[i]);
  }
  EXPECT_EQ(translator.closed_regions(), 1u);
}

TEST(LastGapTest, WhereNothingIsOpenThereIsNoGap) {
  ProcessIds ids;
  ids.unmeasured = 9;
  EventTranslator translator(ids, kClock, Timestamp{});
  std::vector<Event> batch;
  translator.close(Timestamp{150 * kMs}, gap(100, 150), batch);
  EXPECT_TRUE(batch.empty());
}

}  // namespace
}  // namespace timeloom::weave
