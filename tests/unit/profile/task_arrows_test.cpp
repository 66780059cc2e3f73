// Arrows between the tasks of engines, from their events.
#include "profile/engines/task_arrows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/engines/engine_regions.hpp"

namespace timeloom::profile {
namespace {

constexpr std::uint32_t kKeys = 0, kNeeds = 1, kSubmits = 2;  // the parameters below

Definitions definitions() {
  Definitions all;
  for (const char* name : {kKeyParameter, kNeedsParameter, kSubmitsParameter}) {
    Parameter parameter;
    parameter.name = name;
    parameter.type = ParameterType::kString;
    all.parameters.push_back(parameter);
  }
  return all;
}

Event text(std::uint32_t parameter, std::uint32_t string) {
  return {Timestamp{0}, EventKind::kParameterString, parameter, string};
}

// One track after the other; times are milliseconds.
class Tracks {
 public:
  explicit Tracks(const TaskParameters& parameters) : parameters_(parameters) {}

  void task(std::uint64_t track, std::uint32_t key, std::uint64_t begin, std::uint64_t end,
            const std::vector<std::uint32_t>& needs = {}) {
    TaskFollower follower(parameters_, track);
    follower.enter(begin * 1'000'000);
    follower.parameter(text(kKeys, key));
    for (const std::uint32_t need : needs) follower.parameter(text(kNeeds, need));
    follower.leave(end * 1'000'000);
    all_.add(follower.take());
  }
  void request(std::uint32_t key, const std::vector<std::uint32_t>& needs) {
    TaskFollower follower(parameters_, 9);
    follower.enter(0);
    follower.parameter(text(kSubmits, key));
    for (const std::uint32_t need : needs) follower.parameter(text(kNeeds, need));
    follower.leave(1);
    all_.add(follower.take());
  }
  TaskArrows found() const { return arrows_between(all_, tolerance_of(ClockProperties{})); }
  // Track and start of both tasks of each arrow.
  std::vector<std::array<std::uint64_t, 4>> arrows() const {
    std::vector<std::array<std::uint64_t, 4>> result;
    for (const auto& [made, taken] : found().arrows) {
      const FollowedTask &from = all_.tasks[made], &to = all_.tasks[taken];
      result.push_back({from.track, from.begin / 1'000'000, to.track, to.begin / 1'000'000});
    }
    return result;
  }

 private:
  const TaskParameters& parameters_;
  FollowedTasks all_;
};

using Arrows = std::vector<std::array<std::uint64_t, 4>>;

TEST(TaskArrows, GoFromTheMakerToEachTaker) {
  const Definitions all = definitions();
  const TaskParameters parameters(all);
  ASSERT_TRUE(parameters.any());
  Tracks tracks(parameters);
  tracks.task(1, 70, 0, 3);
  tracks.task(2, 71, 1, 4);
  tracks.task(1, 72, 5, 6, {70, 71, 99});
  tracks.task(2, 73, 7, 8, {70});
  EXPECT_EQ(tracks.arrows(), (Arrows{{1, 0, 1, 5}, {2, 1, 1, 5}, {1, 0, 2, 7}}));
}

// A task that failed has run again; a task whose value seems to come later has taken none.
TEST(TaskArrows, StartAtTheLastRunThatHadEnded) {
  const Definitions all = definitions();
  const TaskParameters parameters(all);
  Tracks tracks(parameters);
  tracks.task(1, 70, 0, 3);
  tracks.task(2, 70, 4, 8);
  tracks.task(1, 70, 20, 30);
  tracks.task(3, 71, 5, 9, {70});
  tracks.task(3, 72, 10, 11, {70});
  tracks.task(4, 73, 1, 2, {70, 73});
  EXPECT_EQ(tracks.arrows(), (Arrows{{1, 0, 3, 5}, {2, 4, 3, 10}}));
}

TEST(TaskArrows, BearClocksThatDifferByAMillisecond) {
  const Definitions all = definitions();
  const TaskParameters parameters(all);
  Tracks tracks(parameters);
  tracks.task(1, 70, 0, 10);
  tracks.task(2, 71, 9, 12, {70});
  tracks.task(2, 72, 8, 9, {70});
  EXPECT_EQ(tracks.arrows(), (Arrows{{1, 0, 2, 9}}));
}

// Ray tells the needs where a task is asked for.
TEST(TaskArrows, KnowTheNeedsOfRequests) {
  const Definitions all = definitions();
  const TaskParameters parameters(all);
  Tracks tracks(parameters);
  tracks.request(71, {70});
  tracks.request(72, {});
  tracks.task(1, 70, 1, 2);
  tracks.task(2, 71, 3, 4);
  tracks.task(2, 72, 5, 6);
  EXPECT_EQ(tracks.arrows(), (Arrows{{1, 1, 2, 3}}));
}

TEST(TaskArrows, TheInnermostTaskOfATrackHasItsParameters) {
  const Definitions all = definitions();
  const TaskParameters parameters(all);
  TaskFollower follower(parameters, 5);
  follower.parameter(text(kKeys, 1));  // outside of any region
  follower.enter(10);
  follower.parameter(text(kKeys, 2));
  follower.enter(11);
  follower.parameter(text(kNeeds, 4));  // of a region that is not a task
  follower.parameter(text(kKeys, 3));
  follower.parameter(text(kNeeds, 4));
  follower.leave(12);
  follower.leave(13);
  follower.leave(14);
  const FollowedTasks found = follower.take();
  ASSERT_EQ(found.tasks.size(), 2u);
  EXPECT_EQ(found.tasks[0].key, 2u);
  EXPECT_EQ(found.tasks[0].end, 13u);
  EXPECT_TRUE(found.tasks[0].needs.empty());
  EXPECT_EQ(found.tasks[1].call, 1u);
  EXPECT_EQ(found.tasks[1].end, 12u);
  EXPECT_EQ(found.tasks[1].needs, std::vector<std::uint32_t>{4});
  EXPECT_TRUE(found.complete);
}

// The requests of a key count for each of its runs.
TEST(TaskArrows, AreNotCompleteBeyondTheLimitOfValues) {
  const Definitions all = definitions();
  const TaskParameters parameters(all);
  Tracks tracks(parameters);
  constexpr std::uint32_t kRuns = 1 << 10;
  tracks.request(71, std::vector<std::uint32_t>(kMostTaken / kRuns, 70));  // made by nobody
  for (std::uint32_t i = 0; i < kRuns; ++i) tracks.task(2, 71, 3 + i, 4 + i);
  EXPECT_TRUE(tracks.found().complete);
  tracks.task(3, 71, 2000, 2001);
  EXPECT_FALSE(tracks.found().complete);
}

TEST(TaskArrows, AreNotCompleteBeyondTheLimitOfATrack) {
  const Definitions all = definitions();
  const TaskParameters parameters(all);
  for (const std::size_t needs : {TaskFollower::kMost, TaskFollower::kMost + 1}) {
    Tracks tracks(parameters);
    tracks.task(1, 70, 0, 1, std::vector<std::uint32_t>(needs, 69));
    EXPECT_EQ(tracks.found().complete, needs == TaskFollower::kMost);
  }
}

}  // namespace
}  // namespace timeloom::profile
