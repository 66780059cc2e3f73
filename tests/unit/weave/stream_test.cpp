// The events of one location on their way from a spool to a run.
#include "weave/stream.hpp"

#include <gtest/gtest.h>

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
    stream_.translate(batch);
    return text(batch);
  }
  std::string close(std::uint64_t end) {
    std::vector<Event> batch;
    stream_.close(Timestamp{end}, batch);
    return text(batch);
  }

  ProcessIds ids_;
  ProcessClock clock_;
  Stream stream_{ids_, clock_, Timestamp{100}};
};

TEST_F(StreamTest, GivesTheIdsOfTheRun) {
  EXPECT_EQ(translate({enter(100, 1), leave(110, 1)}), "+11@100 -11@110 ");
  Event parameter{Timestamp{120}, EventKind::kParameterString, 0, 3};
  std::vector<Event> batch{parameter, {Timestamp{121}, EventKind::kMetric, 0, 99}};
  stream_.translate(batch);
  ASSERT_EQ(batch.size(), 2u);
  EXPECT_EQ(batch[0].ref, 5u);
  EXPECT_EQ(batch[0].value, 6u);
  EXPECT_EQ(batch[1].ref, 7u);
  EXPECT_EQ(batch[1].value, 99u);
  EXPECT_EQ(stream_.dropped_events(), 0u);
}

TEST_F(StreamTest, NothingIsEarlierThanItsBegin) {
  EXPECT_EQ(translate({enter(50, 0), leave(105, 0)}), "+10@100 -10@105 ");
}

TEST_F(StreamTest, ClosesWhatWasLeftOpenAtTheEnd) {
  EXPECT_EQ(translate({enter(100, 0), enter(110, 1)}), "+10@100 +11@110 ");
  EXPECT_EQ(close(200), "-11@200 -10@200 ");
  EXPECT_EQ(stream_.closed_regions(), 2u);
}

TEST_F(StreamTest, ClosesAtTheLastEventIfThatIsLater) {
  translate({enter(100, 0), enter(110, 1), leave(300, 1)});
  EXPECT_EQ(close(200), "-10@300 ");
}

TEST_F(StreamTest, ALeaveOfSomethingOuterClosesWhatIsInside) {
  EXPECT_EQ(translate({enter(100, 0), enter(101, 1), enter(102, 2), leave(103, 0)}),
            "+10@100 +11@101 +12@102 -12@103 -11@103 -10@103 ");
  EXPECT_EQ(stream_.closed_regions(), 2u);
}

TEST_F(StreamTest, ALeaveOfNothingIsDroppedAndCounted) {
  EXPECT_EQ(translate({leave(100, 0), enter(101, 1), leave(102, 2), leave(103, 1)}),
            "+11@101 -11@103 ");
  EXPECT_EQ(stream_.dropped_events(), 2u);
}

TEST_F(StreamTest, WhatHasNoDefinitionIsDroppedAndCounted) {
  EXPECT_EQ(translate({enter(100, 77),
                       {Timestamp{101}, EventKind::kMetric, 9, 0},
                       {Timestamp{102}, EventKind::kParameterInt, 9, 0},
                       {Timestamp{103}, EventKind::kParameterString, 0, 99},
                       leave(104, 77)}),
            "");
  EXPECT_EQ(stream_.dropped_events(), 5u);
}

TEST_F(StreamTest, AFallbackStandsForLostRegions) {
  ids_.regions.set_fallback(99);
  EXPECT_EQ(translate({enter(100, 77), leave(104, 77)}), "+99@100 -99@104 ");
  EXPECT_EQ(stream_.dropped_events(), 0u);
}

}  // namespace
}  // namespace timeloom::weave
