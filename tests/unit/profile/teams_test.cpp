// Call paths of teams of threads.
#include <gtest/gtest.h>

#include "story.hpp"

namespace timeloom::profile {
namespace {

std::string of(const CallTree& tree, const std::string& name) {
  return describe(tree, [&](const Location& one) { return one.name == name; });
}

TEST(Teams, OtherThreadsAreBelowTheForkWithTimesOfTheirOwn) {
  Story story;
  story.thread("main",
               "main +5 f +2 parallel @fork/5 @team/5/0 work +30 ) barrier +10 ) @end/5 @join/5 ) "
               "+1 ) g parallel @fork/6 @team/6/0 work +4 ) @end/6 @join/6 ) ) )");
  story.thread("worker",
               "+8 @team/5/1 +1 parallel work +10 ) barrier +20 ) ) @end/5 +9 @team/6/1 parallel "
               "+3 ) @end/6");
  const CallTree tree = story.fold();
  EXPECT_EQ(of(tree, "worker"),
            "main: 0 visits, inclusive 33, exclusive 0\n"
            "  f: 0 visits, inclusive 30, exclusive 0\n"
            "    parallel: 1 visits, inclusive 30, exclusive 0, 30 to 30\n"
            "      work: 1 visits, inclusive 10, exclusive 10, 10 to 10\n"
            "      barrier: 1 visits, inclusive 20, exclusive 20, 20 to 20\n"
            "  g: 0 visits, inclusive 3, exclusive 0\n"
            "    parallel: 1 visits, inclusive 3, exclusive 3, 3 to 3\n");
  EXPECT_EQ(of(tree, "main"),
            "main: 1 visits, inclusive 52, exclusive 5, 52 to 52\n"
            "  f: 1 visits, inclusive 43, exclusive 3, 43 to 43\n"
            "    parallel: 1 visits, inclusive 40, exclusive 0, 40 to 40\n"
            "      work: 1 visits, inclusive 30, exclusive 30, 30 to 30\n"
            "      barrier: 1 visits, inclusive 10, exclusive 10, 10 to 10\n"
            "  g: 1 visits, inclusive 4, exclusive 0, 4 to 4\n"
            "    parallel: 1 visits, inclusive 4, exclusive 0, 4 to 4\n"
            "      work: 1 visits, inclusive 4, exclusive 4, 4 to 4\n");
}

TEST(Teams, ANestedTeamLiesBelowTheRegionThatForkedIt) {
  Story story;
  story.thread("main", "main parallel @fork/5 @team/5/0 +50 @end/5 @join/5 ) )");
  story.thread("worker",
               "@team/5/1 parallel h +5 parallel2 @fork/6 @team/6/0 +20 @end/6 @join/6 ) ) ) "
               "@end/5");
  story.thread("inner", "@team/6/1 parallel2 +10 ) @end/6");
  EXPECT_EQ(of(story.fold(), "inner"),
            "main: 0 visits, inclusive 10, exclusive 0\n"
            "  parallel: 0 visits, inclusive 10, exclusive 0\n"
            "    h: 0 visits, inclusive 10, exclusive 0\n"
            "      parallel2: 1 visits, inclusive 10, exclusive 10, 10 to 10\n");
}

// The time in a team is not time of the function around it on its thread.
TEST(Teams, AThreadMayHaveRegionsAroundItsTeams) {
  Story story;
  story.thread("main", "main parallel @fork/5 @team/5/0 +50 @end/5 @join/5 ) )");
  story.thread("worker", "start +5 @team/5/1 parallel +40 ) @end/5 +3 )");
  EXPECT_EQ(of(story.fold(), "worker"),
            "main: 0 visits, inclusive 40, exclusive 0\n"
            "  parallel: 1 visits, inclusive 40, exclusive 40, 40 to 40\n"
            "start: 1 visits, inclusive 8, exclusive 8, 8 to 8\n");
}

TEST(Teams, ParametersOfTheForkingCallsBelongToTheCallPath) {
  Story story;
  story.thread("main",
               "main f n=7 parallel @fork/5 @team/5/0 +50 @end/5 @join/5 ) ) f n=8 parallel "
               "@fork/6 @team/6/0 +50 @end/6 @join/6 ) ) )");
  story.thread("worker", "@team/5/1 parallel +40 ) @end/5 @team/6/1 parallel +30 ) @end/6");
  EXPECT_EQ(of(story.fold(), "worker"),
            "main: 0 visits, inclusive 70, exclusive 0\n"
            "  f{n=7}: 0 visits, inclusive 40, exclusive 0\n"
            "    parallel: 1 visits, inclusive 40, exclusive 40, 40 to 40\n"
            "  f{n=8}: 0 visits, inclusive 30, exclusive 0\n"
            "    parallel: 1 visits, inclusive 30, exclusive 30, 30 to 30\n");
}

// The end of the second team is missing, and so is the fork of the third.
TEST(Teams, DamagedTeamsAreFoldedNevertheless) {
  Story story;
  story.thread("main", "main parallel @fork/5 @team/5/0 +50 @end/5 @join/5 ) )");
  story.thread("worker", "start +2 @team/9/1 parallel +4 ) @end/9 @team/5/1 parallel +40 ) +3 )");
  EXPECT_EQ(of(story.fold(), "worker"),
            "main: 0 visits, inclusive 40, exclusive 0\n"
            "  parallel: 1 visits, inclusive 40, exclusive 40, 40 to 40\n"
            "start: 1 visits, inclusive 6, exclusive 2, 6 to 6\n"
            "  parallel: 1 visits, inclusive 4, exclusive 4, 4 to 4\n");
}

TEST(Teams, LevelsBeyondTheLimitCountFromTheCallPathOfTheFork) {
  Story story;
  story.thread("main", "main f parallel @fork/5 @team/5/0 +50 @end/5 @join/5 ) ) )");
  story.thread("worker", "@team/5/1 parallel work +40 ) ) @end/5");
  CallTreeOptions options;
  options.max_depth = 3;
  EXPECT_EQ(of(story.fold(options), "worker"),
            "main: 0 visits, inclusive 40, exclusive 0\n"
            "  f: 0 visits, inclusive 40, exclusive 0\n"
            "    parallel: 1 visits, inclusive 40, exclusive 0, 40 to 40\n"
            "      (rest): 1 visits, inclusive 40, exclusive 40, 40 to 40\n");
}

TEST(Teams, MembersAreListedOnceInOrderOfTheirIndices) {
  Story story;
  story.thread("main",
               "parallel @fork/5 @team/5/0 @end/5 @join/5 ) parallel @fork/6 @team/6/0 @end/6 "
               "@join/6 ) parallel @fork/7 @team/7/0 @end/7 @join/7 )");
  story.thread("a", "@team/5/2 @end/5 @team/6/2 @end/6");
  story.thread("b", "@team/5/1 @end/5 @team/6/1 @end/6 @team/7/1 @end/7");
  TeamScan scan;
  scan.begin(story.definitions());
  story.replay(scan);
  const auto teams = scan.take();
  ASSERT_EQ(teams->teams.size(), 3u);
  EXPECT_EQ(teams->team(5)->members, teams->team(6)->members);
  EXPECT_EQ(teams->members.at(teams->team(5)->members),
            (std::vector<LocationId>{LocationId{0}, LocationId{2}, LocationId{1}}));
  EXPECT_EQ(teams->members.at(teams->team(7)->members),
            (std::vector<LocationId>{LocationId{0}, LocationId{2}}));
  EXPECT_EQ(teams->team(8), nullptr);
}

}  // namespace
}  // namespace timeloom::profile
