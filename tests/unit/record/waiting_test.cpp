// The waiting time of a thread, in its stream and in its profile.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "record/waiting_clock.hpp"
#include "record_fixture.hpp"
#include "spool/profile_file.hpp"

namespace timeloom::record {
namespace {

class WaitingTest : public RecordTest {
 protected:
  void begin_waiting(bool keep_newest = false) {
    StartOptions options;
    options.spool_directory = path();
    options.writer = small();
    if (keep_newest) options.writer.size_limit = {512 << 10, AtLimit::kKeepNewest};
    options.process.name = "test";
    options.waiting = true;
    start(options);
  }
  static void sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
  static void work(std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
  }
  // The nanoseconds in the stream of the first thread, one by one.
  std::vector<std::uint64_t> waits() {
    std::vector<std::uint64_t> all;
    const auto reader = spool::Reader::open(path());
    auto events = reader->read(0);
    for (std::vector<Event> batch; events.next(batch);) {
      for (const Event& event : batch) {
        if (event.kind == EventKind::kWaiting) all.push_back(event.value);
      }
    }
    return all;
  }
  std::uint64_t waited() {
    const std::vector<std::uint64_t> all = waits();
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  }
};

// Drops the waits, which differ from run to run; all other lines must not.
Lines without_waiting(Lines lines) {
  std::erase(lines, "waiting");
  return lines;
}

TEST_F(WaitingTest, AGapIsWaitingBeforeTheEventThatEndsIt) {
  begin_waiting();
  const EventWord f = region("f"), g = region("g");
  enter(f);
  sleep();
  enter(g);
  EXPECT_TRUE(leave(g));
  EXPECT_TRUE(leave(f));
  const Recorded recorded = end();
  const Lines& lines = recorded.threads.at(0);
  EXPECT_EQ(without_waiting(lines), (Lines{"enter f", "enter g", "leave g", "leave f"}));
  EXPECT_EQ(lines[1], "waiting");
  EXPECT_EQ(lines[2], "enter g");
  EXPECT_EQ(totals_.events, 4u);
  EXPECT_GE(waited(), 10'000'000u);
  ASSERT_EQ(recorded.definitions.metrics.size(), 1u);
  EXPECT_TRUE(recorded.definitions.metrics.begin()->second.is_waiting());
}

TEST_F(WaitingTest, AThreadThatIsStoppedAtTheEventHasWaitedNoLongerThanTheGap) {
  WaitingClock clock(pthread_self());
  const auto before = std::chrono::steady_clock::now();
  const std::uint64_t last = os::now();
  sleep();
  const std::uint64_t now = os::now();
  const std::chrono::nanoseconds gap = std::chrono::steady_clock::now() - before;
  sleep();
  const std::uint64_t waited = clock.waited(now - last, now);
  EXPECT_GE(waited, 10'000'000u);
  EXPECT_LE(waited, static_cast<std::uint64_t>(gap.count()) * 101 / 100);
  // The time of an interruption belongs to the next gap.
  const std::uint64_t next = os::now();
  EXPECT_GE(clock.waited(next - now, next), 10'000'000u);
}

// Like the wrappers of locks, which know only afterwards whether to record the call.
TEST_F(WaitingTest, ACallThatIsRecordedWhenItHasEndedHasItsOwnWait) {
  begin_waiting();
  const EventWord f = region("f"), g = region("g");
  define(RegionId{payload_of(g)});
  enter(f);
  work(std::chrono::milliseconds(2));
  const std::uint64_t began = os::now();
  sleep();
  t_recorder->enter(user_token(g), g, began);
  EXPECT_TRUE(leave(g));
  EXPECT_TRUE(leave(f));
  const Lines lines = end().threads.at(0);
  EXPECT_EQ(without_waiting(lines), (Lines{"enter f", "enter g", "leave g", "leave f"}));
  EXPECT_EQ(*(std::ranges::find(lines, "leave g") - 1), "waiting");
  EXPECT_GE(waits().back(), 10'000'000u);
}

// Waits that are each shorter than a gap, but long in sum, do not belong to the first gap.
TEST_F(WaitingTest, AWaitAfterASwitchIsNoLongerThanTheGap) {
  begin_waiting(true);
  const EventWord f = region("f");
  const auto track = make_track("one", 0);
  ASSERT_NE(track, nullptr);
  enter(f);
  for (int i = 0; i < 300; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(1));
    enter(f);
    EXPECT_TRUE(leave(f));
  }
  const auto before = std::chrono::steady_clock::now();
  t_recorder->switch_to(track.get());
  work(std::chrono::microseconds(300));
  enter(f);
  const std::chrono::nanoseconds gap = std::chrono::steady_clock::now() - before;
  EXPECT_TRUE(leave(f));
  t_recorder->switch_to(nullptr);
  EXPECT_TRUE(leave(f));
  const Lines lines = end().threads.at(0);
  const auto switched = std::ranges::find(lines, "track 1");
  ASSERT_NE(switched, lines.end());
  std::vector<std::uint64_t> all = waits();
  all.erase(all.begin(), all.begin() + std::count(lines.begin(), switched, "waiting"));
  for (const std::uint64_t wait : all) {
    EXPECT_LE(wait, static_cast<std::uint64_t>(gap.count()) * 101 / 100);
  }
}

TEST_F(WaitingTest, OtherRecordsEndAGapToo) {
  begin_waiting();
  const EventWord f = region("f");
  const auto n = define_parameter("n", ParameterType::kInt64).value();
  enter(f);
  sleep();
  const std::uint64_t words[] = {n, 5};
  t_recorder->extended(ExtendedKind::kParameterInt, words);
  EXPECT_TRUE(leave(f));
  const Lines lines = end().threads.at(0);
  EXPECT_EQ(without_waiting(lines), (Lines{"enter f", "int n 5", "leave f"}));
  EXPECT_EQ(lines[1], "waiting");
  EXPECT_EQ(totals_.events, 3u);
}

TEST_F(WaitingTest, NothingOfItIsAnEventInAnySegment) {
  begin_waiting();
  const EventWord f = region("f");
  constexpr std::size_t kCalls = 3000;  // several segments
  for (std::size_t i = 0; i < kCalls; ++i) {
    enter(f);
    if (i % 1000 == 0) sleep();
    EXPECT_TRUE(leave(f));
  }
  const Recorded recorded = end();
  EXPECT_EQ(without_waiting(recorded.threads.at(0)).size(), 2 * kCalls);
  EXPECT_GE(std::ranges::count(recorded.threads.at(0), "waiting"), 3);
  EXPECT_EQ(recorded.damage, 0u);
  EXPECT_EQ(totals_.events, 2 * kCalls);
}

}  // namespace
}  // namespace timeloom::record
