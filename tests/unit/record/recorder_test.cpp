// The records of a single thread.
#include <algorithm>
#include <array>
#include <bit>
#include <semaphore>
#include <thread>

#include "record_fixture.hpp"

namespace timeloom::record {

struct RecorderClock {
  static void move_base_back(ThreadRecorder& recorder, std::uint64_t ticks) {
    recorder.base_ -= std::min(recorder.base_, ticks);  // on a machine that has just started
  }
  static void move_base_ahead(ThreadRecorder& recorder, std::uint64_t ticks) {
    recorder.base_ += ticks;
  }
};

namespace {

class RecorderTest : public RecordTest {
 protected:
  Lines end_of_first_thread() { return end().threads[0]; }
  static void put(ExtendedKind kind, std::uint64_t ref, std::uint64_t value) {
    const std::array<std::uint64_t, 2> words{ref, value};
    t_recorder->extended(kind, words);
  }
  void expect_times_between(std::uint64_t first, std::uint64_t last) {
    const auto reader = spool::Reader::open(path());
    auto events = reader->read(0);
    for (std::vector<Event> batch; events.next(batch);) {
      for (const Event& event : batch) {
        EXPECT_GE(ticks(event.time), first);
        EXPECT_LE(ticks(event.time), last);
      }
    }
  }
};

TEST_F(RecorderTest, AnEnterIsLeftByItsToken) {
  begin();
  const EventWord f = region("f"), g = region("g");
  enter(f);
  enter(g);
  EXPECT_TRUE(leave(g));
  EXPECT_TRUE(leave(f));
  EXPECT_EQ(end_of_first_thread(), (Lines{"enter f", "enter g", "leave g", "leave f"}));
  EXPECT_EQ(totals_.events, 4u);
}

TEST_F(RecorderTest, EveryKindOfEventIsRecorded) {
  begin();
  const auto i = define_parameter("i", ParameterType::kInt64).value();
  const auto u = define_parameter("u", ParameterType::kUint64).value();
  const auto d = define_parameter("d", ParameterType::kFloat).value();
  const auto s = define_parameter("s", ParameterType::kString).value();
  const auto rss = define_metric("rss", "bytes", MetricValueType::kUint64).value();
  put(ExtendedKind::kParameterInt, i, static_cast<std::uint64_t>(-7));
  put(ExtendedKind::kParameterUint, u, UINT64_MAX);
  put(ExtendedKind::kParameterFloat, d, std::bit_cast<std::uint64_t>(0.5));
  put(ExtendedKind::kParameterString, s, define_string("hello").value());
  put(ExtendedKind::kMetric, rss, 4096);
  set_recording(false);
  set_recording(true);
  EXPECT_EQ(end_of_first_thread(),
            (Lines{"int i -7", "uint u 18446744073709551615", "float d 0.500000", "string s hello",
                   "metric rss 4096", "off", "on"}));
  EXPECT_EQ(totals_.events, 7u);
}

TEST_F(RecorderTest, WhatIsNotOpenCannotBeLeft) {
  begin();
  const EventWord f = region("f"), g = region("g");
  EXPECT_FALSE(leave(f));
  enter(f);
  EXPECT_FALSE(leave(g));
  EXPECT_TRUE(leave(f));
  EXPECT_FALSE(leave(f));
  EXPECT_EQ(end_of_first_thread(), (Lines{"enter f", "leave f"}));
}

TEST_F(RecorderTest, LeavingAnOuterRegionLeavesTheInnerOnes) {
  begin();
  const EventWord f = region("f"), g = region("g"), h = region("h");
  enter(f);
  enter(g);
  enter(h);
  EXPECT_TRUE(leave(f));
  EXPECT_EQ(end_of_first_thread(),
            (Lines{"enter f", "enter g", "enter h", "leave h", "leave g", "leave f"}));
}

TEST_F(RecorderTest, DeepRecursionIsRecordedWhole) {
  begin(small());
  const EventWord f = region("f");
  constexpr int kDepth = 100000;
  for (int i = 0; i < kDepth; ++i) enter(f);
  for (int i = 0; i < kDepth; ++i) ASSERT_TRUE(leave(f));
  const Lines lines = end_of_first_thread();
  ASSERT_EQ(lines.size(), 2u * kDepth);
  EXPECT_TRUE(std::all_of(lines.begin(), lines.begin() + kDepth,
                          [](const std::string& line) { return line == "enter f"; }));
  EXPECT_TRUE(std::all_of(lines.begin() + kDepth, lines.end(),
                          [](const std::string& line) { return line == "leave f"; }));
}

// Extended records of three words reach the end of a segment at every offset.
TEST_F(RecorderTest, SegmentsTurnOverBetweenAnyTwoEvents) {
  begin(small());
  const EventWord f = region("f");
  const auto metric = define_metric("m", "", MetricValueType::kUint64).value();
  Lines expected;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    enter(f);
    expected.push_back("enter f");
    for (std::uint64_t k = 0; k < i % 4; ++k) {
      put(ExtendedKind::kMetric, metric, i);
      expected.push_back("metric m " + std::to_string(i));
    }
    leave(f);
    expected.push_back("leave f");
  }
  EXPECT_EQ(end_of_first_thread(), expected);
  EXPECT_EQ(totals_.events, expected.size());
  EXPECT_GT(totals_.bytes, expected.size() * 8);
}

TEST_F(RecorderTest, WhileRecordingIsOffNothingIsRecordedAndNothingLeft) {
  begin();
  const EventWord f = region("f"), g = region("g");
  enter(f);
  set_recording(false);
  t_recorder->enter_unrecorded(user_token(g));
  t_recorder->leave_unrecorded(user_token(g));
  t_recorder->enter_unrecorded(user_token(g));
  set_recording(true);
  EXPECT_TRUE(leave(f));  // and with it g, which has no record
  EXPECT_EQ(end_of_first_thread(), (Lines{"enter f", "off", "on", "leave f"}));
}

TEST_F(RecorderTest, AThreadThatBeginsWhileRecordingIsOffRemembersWhatItEnters) {
  begin();
  const EventWord f = region("f");
  set_recording(false);
  std::thread([&] {
    enter(f);  // there is no place for an event
    t_recorder->enter_unrecorded(user_token(f));
    set_recording(true);
    EXPECT_TRUE(leave(f));
    EXPECT_FALSE(leave(f));
  }).join();
  EXPECT_EQ(end().threads[1], (Lines{"off", "on"}));
}

TEST_F(RecorderTest, TheLeaveOfALostEnterIsNotRecorded) {
  spool::WriterOptions one = small();
  one.ring_size = one.ring_limit = one.segment_size;
  begin(one);
  const EventWord f = region("f");
  std::binary_semaphore has_segment(0), go_on(0);
  std::thread other([&] {
    enter(f);
    has_segment.release();
    go_on.acquire();
  });
  has_segment.acquire();
  enter(f);
  go_on.release();
  other.join();
  EXPECT_TRUE(leave(f));  // there is room now
  EXPECT_EQ(end_of_first_thread(), Lines{});
  EXPECT_EQ(totals_.lost_events, 2u);
}

TEST_F(RecorderTest, SwitchingToWhatItIsChangesNothing) {
  begin();
  EXPECT_FALSE(set_recording(true));
  EXPECT_TRUE(set_recording(false));
  EXPECT_FALSE(set_recording(false));
  EXPECT_TRUE(set_recording(true));
  EXPECT_EQ(end_of_first_thread(), (Lines{"off", "on"}));
}

TEST_F(RecorderTest, APauseLongerThanAWordCanSayTakesATimeBase) {
  begin();
  const EventWord f = region("f");
  const std::uint64_t before = os::now();
  enter(f);
  for (const std::uint64_t pause : {kMaxDelta, kMaxDelta + 1, kMaxDelta * 1000}) {
    RecorderClock::move_base_back(*t_recorder, pause);
    set_recording(false);
    RecorderClock::move_base_back(*t_recorder, pause);
    set_recording(true);
  }
  RecorderClock::move_base_back(*t_recorder, kMaxDelta * 2);
  leave(f);
  const std::uint64_t after = os::now();
  EXPECT_EQ(end_of_first_thread(),
            (Lines{"enter f", "off", "on", "off", "on", "off", "on", "leave f"}));
  EXPECT_EQ(totals_.events, 8u);
  expect_times_between(before, after);
}

// Its next segment may come from a core whose counter is slightly behind.
TEST_F(RecorderTest, ABaseInTheFutureHoldsTheTimeBack) {
  begin();
  const EventWord f = region("f");
  const std::uint64_t before = os::now();
  enter(f);
  RecorderClock::move_base_ahead(*t_recorder, 100'000'000);
  leave(f);
  enter(f);
  leave(f);
  const std::uint64_t after = os::now() + 100'000'000;
  EXPECT_EQ(end_of_first_thread(), (Lines{"enter f", "leave f", "enter f", "leave f"}));
  expect_times_between(before, after);
}

TEST_F(RecorderTest, WithoutAMeasurementNothingHappens) {
  const EventWord f = region("f");
  enter(f);
  EXPECT_FALSE(leave(f));
  t_recorder->extended(ExtendedKind::kRecordingOff, {});
  EXPECT_FALSE(t_recorder->attached());
  EXPECT_FALSE(active());
  EXPECT_EQ(totals().events, 0u);
  EXPECT_EQ(stop().events, 0u);
}

TEST_F(RecorderTest, TheLastTimeIsThatOfAnyRecord) {
  begin();
  const std::uint64_t before = os::now();
  const std::uint64_t words[] = {0, 5};  // as a separate word, an enter shortly after the base
  t_recorder->extended(ExtendedKind::kMetric, words);
  const std::uint64_t after = os::now();
  EXPECT_GE(t_recorder->last_ticks(), before);
  EXPECT_LE(t_recorder->last_ticks(), after);
}

TEST_F(RecorderTest, AScratchRecorderLeavesTheSpoolAlone) {
  begin();
  const EventWord f = region("f");
  enter(f);
  std::vector<std::uint64_t> memory(100);
  ThreadRecorder scratch;
  scratch.attach_scratch(memory);
  ThreadRecorder* own = exchange_recorder(&scratch);
  enter(f);
  leave(f);
  exchange_recorder(own);
  scratch.abandon();
  leave(f);
  EXPECT_EQ(kind_of(memory[0]), WordKind::kEnter);
  EXPECT_EQ(kind_of(memory[1]), WordKind::kLeave);
  EXPECT_EQ(memory[2], 0u);
  EXPECT_EQ(end_of_first_thread(), (Lines{"enter f", "leave f"}));
}

TEST_F(RecorderTest, WhatAScratchRecorderHasNoRoomForIsDropped) {
  const EventWord f = region("f");
  std::vector<std::uint64_t> memory(101);  // full between an enter and its leave
  ThreadRecorder scratch;
  scratch.attach_scratch(memory);
  ThreadRecorder* own = exchange_recorder(&scratch);
  for (int i = 0; i < 200; ++i) {
    enter(f);
    leave(f);
  }
  exchange_recorder(own);
  EXPECT_TRUE(scratch.open_regions().empty());
  scratch.abandon();
  EXPECT_EQ(memory.back(), 0u);
}

}  // namespace
}  // namespace timeloom::record
