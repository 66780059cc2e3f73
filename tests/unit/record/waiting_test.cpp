// How long a thread waits, in its stream and in its profile.
#include <algorithm>
#include <chrono>
#include <thread>

#include "record/waiting_clock.hpp"
#include "record_fixture.hpp"
#include "spool/profile_file.hpp"

namespace timeloom::record {
namespace {

class WaitingTest : public RecordTest {
 protected:
  void begin_waiting() {
    StartOptions options;
    options.spool_directory = path();
    options.writer = small();
    options.process.name = "test";
    options.waiting = true;
    start(options);
  }
  static void sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
  // The nanoseconds in the stream of the first thread.
  std::uint64_t waited() {
    std::uint64_t sum = 0;
    const auto reader = spool::Reader::open(path());
    auto events = reader->read(0);
    for (std::vector<Event> batch; events.next(batch);) {
      for (const Event& event : batch) sum += event.kind == EventKind::kWaiting ? event.value : 0;
    }
    return sum;
  }
};

// Nobody knows when a thread does not run; without waiting all is as it would be.
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
