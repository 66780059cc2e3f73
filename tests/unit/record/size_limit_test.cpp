// Recording into a run with a size limit: lost and dropped events, and the call paths of a stream
// that starts in the middle.
#include <algorithm>
#include <thread>

#include "../support/child.hpp"
#include "../support/thorough.hpp"
#include "record_fixture.hpp"
#include "spool/profile_file.hpp"

namespace timeloom::record {
namespace {

class SizeLimitTest : public RecordTest {
 protected:
  void begin_limited(bool keep_newest) {
    begin_limited(keep_newest ? AtLimit::kKeepNewest : AtLimit::kStop);
  }
  void begin_limited(AtLimit policy, std::uint64_t bytes = 512 << 10) {
    spool::WriterOptions options = small();
    options.size_limit = {bytes, policy};
    begin(options);
  }
  void call(EventWord word, int times) {
    for (int i = 0; i < times; ++i) {
      enter(word);
      leave(word);
    }
  }
  // Adjacent spools share the limit.
  void next_run() {
    std::filesystem::remove_all(path());
    next_spool();
  }
  // Regions that are left open.
  static std::size_t balance(const Lines& lines) {
    std::vector<std::string> open;
    for (const std::string& line : lines) {
      const std::string name = line.substr(6);
      if (line.starts_with("enter")) {
        open.push_back(name);
      } else {
        EXPECT_FALSE(open.empty());
        EXPECT_EQ(open.back(), name);
        open.pop_back();
      }
    }
    return open.size();
  }
};

TEST_F(SizeLimitTest, WhatComesAfterTheLimitIsLostAndCounted) {
  begin_limited(false);
  const EventWord f = region("f"), g = region("g");
  enter(f);
  call(g, 100'000);
  leave(f);
  const Recorded recorded = end();
  EXPECT_TRUE(totals_.at_limit);
  EXPECT_EQ(totals_.error, 0);
  EXPECT_EQ(recorded.events, totals_.events);
  EXPECT_EQ(recorded.events + totals_.lost_events, 200'002u);
  EXPECT_EQ(recorded.damage, 0u);
  EXPECT_TRUE(recorded.definitions.cuts.contains(0));
  EXPECT_EQ(recorded.definitions.properties.at("timeloom::size_limit"), "524288");
}

TEST_F(SizeLimitTest, WhatComesAfterTheLimitIsFolded) {
  begin_limited(AtLimit::kAggregate);
  const EventWord f = region("f"), g = region("g");
  enter(f);
  call(g, 100'000);
  std::thread([&] { call(g, 100'000); }).join();  // starts when hardly any room is left
  leave(f);
  call(f, 2);
  const Recorded recorded = end();
  EXPECT_TRUE(totals_.at_limit);
  EXPECT_EQ(totals_.lost_events, 0u);
  EXPECT_EQ(totals_.events, 400'006u);
  EXPECT_EQ(recorded.events + totals_.aggregated_events, totals_.events);
  EXPECT_EQ(recorded.damage, 0u);
  EXPECT_TRUE(recorded.definitions.cuts.contains(0));
  const auto profiles = spool::read_profiles(path()).profiles;
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_TRUE(profiles[0].continues);
  EXPECT_EQ(profiles[0].first, recorded.definitions.cuts.at(0));
  const auto visits_of_g = [&](std::size_t thread) {  // recorded, and aggregated
    std::uint64_t visits = 0;
    if (const auto found = recorded.threads.find(profiles[thread].location);
        found != recorded.threads.end()) {
      visits += static_cast<std::uint64_t>(std::ranges::count(found->second, "enter g"));
    }
    for (const spool::ProfileNode& place : profiles[thread].places) visits += place.visits;
    return visits;
  };
  const auto& places = profiles[0].places;  // the continued f, g below it, a new f
  EXPECT_EQ(places.at(0).kind, spool::PlaceKind::kContinued);
  EXPECT_EQ(places.back().kind, spool::PlaceKind::kCallPath);
  EXPECT_EQ(places.back().visits, 2u);
  EXPECT_EQ(visits_of_g(0), 100'002u);  // including the visits below f
  EXPECT_EQ(visits_of_g(1), 100'000u);
}

TEST_F(SizeLimitTest, TheNewestEventsKeepTheirCallPath) {
  begin_limited(true);
  const EventWord f = region("f"), g = region("g"), h = region("h");
  enter(f);
  call(h, 1000);
  enter(g);
  call(h, 200'000);
  leave(g);
  leave(f);
  const Recorded recorded = end();
  const Lines& lines = recorded.threads.at(0);
  EXPECT_EQ(totals_.events, 402'004u);
  EXPECT_EQ(totals_.lost_events, 0u);
  EXPECT_EQ(recorded.damage, 0u);
  EXPECT_EQ(balance(lines), 0u);
  EXPECT_EQ(lines[0], "enter f");
  EXPECT_EQ(lines[1], "enter g");
  // If a segment starts with a leave, its region as well.
  const std::uint64_t again = totals_.dropped_events + recorded.events - totals_.events;
  EXPECT_GE(again, 2u);
  EXPECT_LE(again, 3u);
}

// The records of each location, separated by `track` lines, which are left out.
std::map<std::string, Lines> by_track(const Lines& lines) {
  std::map<std::string, Lines> result;
  std::string track = "track 0";
  for (const std::string& line : lines) {
    if (line.starts_with("track ") && line != "track end") {
      track = line;
    } else if (line != "track end") {
      result[track].push_back(line);
    }
  }
  return result;
}

// A track may continue anywhere in a segment, even where there is no room to list the open regions.
TEST_F(SizeLimitTest, EveryTrackGoesOnAtItsDepth) {
  constexpr int kDepths[] = {2, 300, 3};  // of the thread and two tracks
  for (int rounds = 5000; rounds < 5060; rounds += test::rounds(17, 7)) {
    SCOPED_TRACE(rounds);
    next_run();
    begin_limited(true);
    const EventWord f = region("f"), h = region("h");
    const auto one = make_track("one", 0), two = make_track("two", 0);
    ASSERT_TRUE(one != nullptr && two != nullptr);
    Track* const tracks[] = {nullptr, one.get(), two.get()};
    for (int i = 0; i < 3; ++i) {
      t_recorder->switch_to(tracks[i]);
      for (int depth = 0; depth < kDepths[i]; ++depth) enter(f);
    }
    for (int round = 0; round < rounds; ++round) {
      t_recorder->switch_to(tracks[round % 3]);
      call(h, 1 + round % 17);
    }
    for (int i = 2; i >= 0; --i) {
      t_recorder->switch_to(tracks[i]);
      for (int depth = 0; depth < kDepths[i]; ++depth) leave(f);
    }
    const Recorded recorded = end();
    ASSERT_GT(totals_.dropped_events, 0u);
    ASSERT_EQ(recorded.damage, 0u);
    for (const auto& [track, lines] : by_track(recorded.threads.at(0))) {
      const int depth = kDepths[track.back() - '0'];
      ASSERT_EQ(balance(lines), 0u) << track;
      ASSERT_EQ(std::ranges::count(lines, "enter f"), depth) << track;
      const auto h_entered = std::ranges::find(lines, "enter h");
      ASSERT_GE(h_entered - lines.begin(), depth) << track;
    }
  }
}

// A switch to a track that occurs once in a segment may be the last record that fits in the oldest
// one.
TEST_F(SizeLimitTest, ATrackThatBeginsAtTheEndOfTheOldestSegmentGoesOnAtItsDepth) {
  constexpr int kDepth = 40, kCalls = 230;
  for (int rounds = 100; rounds < 230; rounds += test::rounds(13, 3)) {
    SCOPED_TRACE(rounds);
    next_run();
    begin_limited(AtLimit::kKeepNewest, 128 << 10);
    const EventWord f = region("f"), h = region("h");
    const auto track = make_track("one", 0);
    ASSERT_NE(track, nullptr);
    t_recorder->switch_to(track.get());
    for (int depth = 0; depth < kDepth; ++depth) enter(f);
    for (int round = 0; round < rounds; ++round) {
      t_recorder->switch_to(nullptr);
      call(h, kCalls);
      t_recorder->switch_to(track.get());
      call(h, 1);
    }
    for (int depth = 0; depth < kDepth; ++depth) leave(f);
    const Recorded recorded = end();
    ASSERT_EQ(recorded.damage, 0u);
    ASSERT_GT(totals_.dropped_events, 0u);
    const Lines lines = by_track(recorded.threads.at(0))["track 1"];
    ASSERT_EQ(std::ranges::count(lines, "enter f"), kDepth);
    ASSERT_EQ(balance(lines), 0u);
  }
}

// The window starts wherever a segment does: before an enter, a leave, or an extended record, with
// regions that only seem open.
TEST_F(SizeLimitTest, EveryBeginningIsBalanced) {
  for (int calls = 10'000; calls < 10'600; calls += test::rounds(29, 7)) {
    SCOPED_TRACE(calls);
    next_run();
    begin_limited(AtLimit::kKeepNewest, 128 << 10);
    const EventWord f = region("f"), g = region("g"), h = region("h");
    enter(f);
    t_recorder->enter_unrecorded(user_token(h));
    for (int i = 0; i < calls; ++i) {
      enter(g);
      if (i % 3 == 0) call(h, 1);
      leave(g);
    }
    leave(f);
    const Recorded recorded = end();
    ASSERT_GT(totals_.dropped_events, 0u);
    ASSERT_EQ(totals_.error, 0);
    ASSERT_EQ(totals_.lost_events, 0u);
    ASSERT_EQ(recorded.damage, 0u);
    ASSERT_EQ(balance(recorded.threads.at(0)), 0u);
    const std::uint64_t again = totals_.dropped_events + recorded.events - totals_.events;
    ASSERT_GE(again, 1u);
    ASSERT_LE(again, 3u);
    ASSERT_EQ(recorded.threads.at(0).front(), "enter f");
  }
}

TEST_F(SizeLimitTest, ADeepStackIsCutNotBroken) {
  begin_limited(true);
  const EventWord f = region("f"), g = region("g");
  for (int i = 0; i < 100; ++i) enter(f);
  call(g, 100'000);
  for (int i = 0; i < 2000; ++i) enter(f);
  call(g, 100'000);
  for (int i = 0; i < 2100; ++i) ASSERT_TRUE(leave(f));
  const Recorded recorded = end();
  const Lines& lines = recorded.threads.at(0);
  EXPECT_EQ(recorded.damage, 0u);
  const auto first_call = std::find(lines.begin(), lines.end(), "enter g");
  EXPECT_GT(first_call - lines.begin(), 200);  // of 2,100
  // The call that was open at the cut may have a leave only.
  const auto cut = lines[static_cast<std::size_t>(first_call - lines.begin()) - 1] == "leave g";
  EXPECT_EQ(std::count(lines.begin(), first_call, "enter f") + cut, first_call - lines.begin());
}

TEST_F(SizeLimitTest, ThreadsThatEndedAreDroppedToo) {
  begin_limited(true);
  const EventWord f = region("f");
  std::uint64_t put = 0;
  for (int i = 0; i < 50; ++i) {
    std::thread([&] { call(f, 10'000); }).join();
    put += 20'000;
  }
  const Recorded recorded = end();
  EXPECT_EQ(recorded.damage, 0u);
  EXPECT_EQ(totals_.events, put);
  const std::uint64_t again = totals_.dropped_events + recorded.events - put;
  EXPECT_LE(again, 1u);
  EXPECT_EQ(recorded.threads.rbegin()->second.size(), 20'000u);
}

// Killed at any moment: the records have no gap, and the last one that was put is the end.
TEST_F(SizeLimitTest, AKilledProcessLeavesTheNewest) {
  for (unsigned i = 0; i < test::rounds(5u, 20u); ++i) {
    next_run();
    const std::string where = path() + "-counters";
    {
      test::Child child({TIMELOOM_RECORD_VICTIM, "newest", path(), where, "2"});
      const test::SharedCounters counters(where);
      while (counters[0] < 150'000 + 7919 * i && child.running()) std::this_thread::yield();
      child.end();
    }
    const test::SharedCounters counters(where);
    const Recorded recorded = read_spool(path());
    EXPECT_EQ(recorded.damage, 0u);
    const std::uint64_t put = counters[0] + counters[1];
    const std::uint64_t known = recorded.events + recorded.definitions.dropped_events;
    EXPECT_GE(known, put);
    for (const auto& [location, lines] : recorded.threads) EXPECT_LE(balance(lines), 1u);
  }
}

}  // namespace
}  // namespace timeloom::record
