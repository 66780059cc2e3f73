// The translation of one location's events from a spool to a run.
#include "weave/event_translator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace timeloom::weave {
namespace {

class StreamTest : public ::testing::Test {
 protected:
  StreamTest() : clock_(os::ClockSource::kMonotonic, {}) {
    for (std::uint32_t id = 0; id < 4; ++id) ids_.regions.set(id, id + 10);
    ids_.parameters.set(0, 5);
    ids_.strings.set(3, 6);
    ids_.metrics.set(0, 7);
  }
  static Event enter(std::uint64_t time, std::uint32_t region) {
    return {Timestamp{time}, EventKind::kEnter, region, 0};
  }
  static Event leave(std::uint64_t time, std::uint32_t region) {
    return {Timestamp{time}, EventKind::kLeave, region, 0};
  }
  static std::string text(const std::vector<Event>& events) {
    std::string result;
    for (const Event& event : events) {
      result += event.kind == EventKind::kEnter ? "+" : event.kind == EventKind::kLeave ? "-" : "*";
      result += std::to_string(event.ref) + "@" + std::to_string(ticks(event.time)) + " ";
    }
    return result;
  }
  std::string translate(std::vector<Event> batch) {
    translator_.translate(batch);
    return text(batch);
  }
  std::string close(std::uint64_t end) {
    std::vector<Event> batch;
    translator_.close(Timestamp{end}, {}, batch);
    return text(batch);
  }

  ProcessIds ids_;
  ProcessClock clock_;
  EventTranslator translator_{ids_, clock_, Timestamp{100}};
};

TEST_F(StreamTest, GivesTheIdsOfTheRun) {
  EXPECT_EQ(translate({enter(100, 1), leave(110, 1)}), "+11@100 -11@110 ");
  Event parameter{Timestamp{120}, EventKind::kParameterString, 0, 3};
  std::vector<Event> batch{parameter, {Timestamp{121}, EventKind::kMetric, 0, 99}};
  translator_.translate(batch);
  ASSERT_EQ(batch.size(), 2u);
  EXPECT_EQ(batch[0].ref, 5u);
  EXPECT_EQ(batch[0].value, 6u);
  EXPECT_EQ(batch[1].ref, 7u);
  EXPECT_EQ(batch[1].value, 99u);
  EXPECT_EQ(translator_.dropped_events(), 0u);
}

// A task that is renamed, or named after its first step, has several names.
TEST_F(StreamTest, CountsEachTaskOfALaneOnce) {
  ids_.task_parameter = 5;
  const Event name{Timestamp{0}, EventKind::kParameterString, 0, 3};
  const std::string called = "+10@100 *5@100 +11@100 -11@100 *5@100 ";
  const std::vector<Event> call = {enter(0, 0), name, enter(0, 1), leave(0, 1), name};
  EXPECT_EQ(translate(call), called);
  EXPECT_EQ(translate({name, enter(0, 1)}), "*5@100 +11@100 ");
  EXPECT_EQ(translate({name, leave(0, 1), leave(0, 0)}), "*5@100 -11@100 -10@100 ");
  EXPECT_EQ(translator_.tasks(), 1u);
  EXPECT_EQ(translate(call), called);
  EXPECT_EQ(translate({leave(0, 0)}), "-10@100 ");
  EXPECT_EQ(translate({enter(0, 0), name, leave(0, 0)}), "+10@100 *5@100 -10@100 ");
  EXPECT_EQ(translator_.tasks(), 3u);
  EXPECT_EQ(translator_.dropped_events(), 0u);
}

TEST_F(StreamTest, NothingIsEarlierThanItsBegin) {
  EXPECT_EQ(translate({enter(50, 0), leave(105, 0)}), "+10@100 -10@105 ");
}

TEST_F(StreamTest, ClosesWhatWasLeftOpenAtTheEnd) {
  EXPECT_EQ(translate({enter(100, 0), enter(110, 1)}), "+10@100 +11@110 ");
  EXPECT_EQ(close(200), "-11@200 -10@200 ");
  EXPECT_EQ(translator_.closed_regions(), 2u);
}

TEST_F(StreamTest, ClosesAtTheLastEventIfThatIsLater) {
  translate({enter(100, 0), enter(110, 1), leave(300, 1)});
  EXPECT_EQ(close(200), "-10@300 ");
}

TEST_F(StreamTest, ALeaveOfSomethingOuterClosesWhatIsInside) {
  EXPECT_EQ(translate({enter(100, 0), enter(101, 1), enter(102, 2), leave(103, 0)}),
            "+10@100 +11@101 +12@102 -12@103 -11@103 -10@103 ");
  EXPECT_EQ(translator_.closed_regions(), 2u);
}

TEST_F(StreamTest, ALeaveOfNothingIsDroppedAndCounted) {
  EXPECT_EQ(translate({leave(100, 0), enter(101, 1), leave(102, 2), leave(103, 1)}),
            "+11@101 -11@103 ");
  EXPECT_EQ(translator_.dropped_events(), 2u);
}

TEST_F(StreamTest, WhatHasNoDefinitionIsDroppedAndCounted) {
  EXPECT_EQ(translate({enter(100, 77),
                       {Timestamp{101}, EventKind::kMetric, 9, 0},
                       {Timestamp{102}, EventKind::kParameterInt, 9, 0},
                       {Timestamp{103}, EventKind::kParameterString, 0, 99},
                       leave(104, 77)}),
            "");
  EXPECT_EQ(translator_.dropped_events(), 5u);
}

// Deeper than the initial capacity, cut into batches of every size, with events among the calls
// that are translated one by one.
TEST_F(StreamTest, DeepCallsComeBackWhole) {
  std::vector<Event> calls;
  std::string expected;
  std::uint64_t time = 100;
  const auto add = [&](Event event, const char* sign, std::uint32_t ref) {
    expected += sign + std::to_string(ref) + "@" + std::to_string(ticks(event.time)) + " ";
    calls.push_back(event);
  };
  for (std::uint32_t i = 0; i < 300; ++i) {
    add(enter(++time, i % 4), "+", 10 + i % 4);
    if (i % 7 == 0) add({Timestamp{++time}, EventKind::kMetric, 0, i}, "*", 7);
    if (i % 11 == 0) calls.push_back(leave(++time, 77));
  }
  for (std::uint32_t i = 300; i-- > 0;) add(leave(++time, i % 4), "-", 10 + i % 4);
  for (const std::size_t size : {1, 3, 63, 64, 65, 1000}) {
    EventTranslator translator(ids_, clock_, Timestamp{100});
    std::string found;
    for (std::size_t at = 0; at < calls.size(); at += size) {
      const auto begin = calls.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t count = std::min(size, calls.size() - at);
      std::vector<Event> batch(begin, begin + static_cast<std::ptrdiff_t>(count));
      translator.translate(batch);
      found += text(batch);
    }
    EXPECT_EQ(found, expected) << size;
    EXPECT_EQ(translator.dropped_events(), 28u);
    EXPECT_EQ(translator.closed_regions(), 0u);
  }
}

TEST_F(StreamTest, AFallbackStandsForLostRegions) {
  ids_.regions.set_fallback(99);
  EXPECT_EQ(translate({enter(100, 77), leave(104, 77)}), "+99@100 -99@104 ");
  EXPECT_EQ(translator_.dropped_events(), 0u);
}

}  // namespace
}  // namespace timeloom::weave
