// Tracks: sequences of calls that take turns on a thread.
#include <map>
#include <thread>

#include "record_fixture.hpp"

namespace timeloom::record {
namespace {

class TracksTest : public RecordTest {};

TEST_F(TracksTest, EachHasItsOwnOpenRegions) {
  begin();
  const EventWord f = region("f"), g = region("g");
  const auto one = make_track("one", 5), two = make_track("two", 6);
  ASSERT_TRUE(one != nullptr && two != nullptr);
  enter(f);
  t_recorder->switch_to(one.get());
  enter(g);
  t_recorder->switch_to(two.get());
  EXPECT_FALSE(t_recorder->leave(user_token(g)));  // open on the other one
  enter(f);
  EXPECT_EQ(t_recorder->own_regions().size(), 1u);
  EXPECT_EQ(t_recorder->own_regions()[0].enter, f);
  t_recorder->switch_to(one.get());
  leave(g);
  t_recorder->end_track();
  EXPECT_EQ(t_recorder->track(), nullptr);
  leave(f);
  const Recorded found = end();
  EXPECT_EQ(found.threads.at(0), (Lines{"enter f", "track 1", "enter g", "track 2", "enter f",
                                        "track 1", "leave g", "track end", "track 0", "leave f"}));
  const auto& threads = found.definitions.threads;
  EXPECT_EQ(threads.at(1).name, "one");
  EXPECT_EQ(threads.at(1).owner, 0u);
  EXPECT_EQ(threads.at(1).number, 5u);
  EXPECT_EQ(threads.at(2).number, 6u);
  EXPECT_FALSE(threads.at(0).owner.has_value());
  EXPECT_EQ(totals_.threads, 1u);
  EXPECT_EQ(totals_.tracks, 2u);
  EXPECT_EQ(totals_.events, 8u);  // with two starts and an end; words that name the track are not
                                  // events
}

TEST_F(TracksTest, EverySegmentBeginsWithTheTrackItContinues) {
  begin(small());
  const EventWord f = region("f");
  const auto track = make_track("track", 0);
  ASSERT_NE(track, nullptr);
  t_recorder->switch_to(track.get());
  const std::size_t pairs = 4096 / sizeof(EventWord) * 3;
  for (std::size_t i = 0; i < pairs; ++i) {
    enter(f);
    leave(f);
  }
  t_recorder->end_track();
  const Recorded found = end();
  const Lines& lines = found.threads.at(0);
  EXPECT_GE(std::count(lines.begin(), lines.end(), "track 1"), 6);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "enter f"), static_cast<long>(pairs));
  EXPECT_EQ(lines.back(), "track 0");
  EXPECT_EQ(found.damage, 0u);
  EXPECT_EQ(totals_.lost_events, 0u);
  EXPECT_EQ(totals_.events, 2 * pairs);
}

// A thread's segment gets more space at every possible word of a switch.
TEST_F(TracksTest, EventsStayOnTheirTracksWhereASegmentGrows) {
  begin();
  const EventWord f = region("f"), g = region("g");
  constexpr std::uint32_t kThreads = 16;
  constexpr std::size_t kCalls = 1000;
  for (std::uint32_t shift = 0; shift < kThreads; ++shift) {
    std::thread([&, shift] {
      for (std::uint32_t i = 0; i < shift; ++i) enter(g);
      const auto track = make_track("track", 0);
      for (std::size_t i = 0; i < kCalls; ++i) {
        t_recorder->switch_to(track.get());
        enter(f);
        leave(f);
        t_recorder->switch_to(nullptr);
        enter(g);
        leave(g);
      }
      t_recorder->switch_to(track.get());
      t_recorder->end_track();
    }).join();
  }
  const Recorded found = end();
  EXPECT_EQ(found.damage, 0u);
  for (std::uint32_t shift = 0; shift < kThreads; ++shift) {
    const std::uint32_t thread = 1 + 2 * shift;
    std::map<std::string, std::map<std::string, std::size_t>> counts;  // by location
    std::string location = "track " + std::to_string(thread);
    for (const std::string& line : found.threads.at(thread)) {
      if (line.starts_with("track ")) location = line;
      if (!line.starts_with("track")) ++counts[location][line];
    }
    const std::size_t own = kCalls + shift;
    EXPECT_EQ(counts["track " + std::to_string(thread)],
              (std::map<std::string, std::size_t>{{"enter g", own}, {"leave g", own}}));
    EXPECT_EQ(counts["track " + std::to_string(thread + 1)],
              (std::map<std::string, std::size_t>{{"enter f", kCalls}, {"leave f", kCalls}}));
  }
}

TEST_F(TracksTest, DeepCallsOnOneLeaveTheOthersAlone) {
  begin();
  const EventWord f = region("f"), g = region("g");
  const auto track = make_track("track", 0);
  ASSERT_NE(track, nullptr);
  enter(g);
  t_recorder->switch_to(track.get());
  for (int i = 0; i < 10'000; ++i) enter(f);
  t_recorder->switch_to(nullptr);
  leave(g);
  t_recorder->switch_to(track.get());
  for (int i = 0; i < 10'000; ++i) leave(f);
  EXPECT_TRUE(t_recorder->open_regions().empty());
  t_recorder->end_track();
  EXPECT_EQ(end().events, 2u * 10'000 + 2 + 5);  // and five words that name the track
}

TEST_F(TracksTest, StoppingLeavesWhatRunsAndWhatIsBelow) {
  begin();
  const EventWord f = region("f"), g = region("g");
  const auto track = make_track("track", 0);
  ASSERT_NE(track, nullptr);
  enter(f);
  t_recorder->switch_to(track.get());
  enter(g);
  EXPECT_EQ(end().threads.at(0),
            (Lines{"enter f", "track 1", "enter g", "leave g", "track 0", "leave f"}));
  EXPECT_EQ(t_recorder->track(), nullptr);
}

TEST_F(TracksTest, WithoutAMeasurementThereIsNone) { EXPECT_EQ(make_track("none", 0), nullptr); }

}  // namespace
}  // namespace timeloom::record
