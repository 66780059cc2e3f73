// What `timeloom report --omp` knows of teams of threads, for cases computed by hand.
#include "tools/report/openmp/report_openmp.hpp"

#include <gtest/gtest.h>

#include "core/teams/openmp_properties.hpp"
#include "profile/story.hpp"

namespace timeloom::tools {
namespace {

// A process whose first thread calls a region twice, in which each thread works and waits so long;
// it is alone for 40 of 120 ticks, which are seconds here.
void add_process(profile::Story& story, const std::vector<std::uint64_t>& work,
                 std::uint32_t group = 0) {
  const std::string base = std::to_string(10 * group);
  const auto team = [&](std::size_t index, int number, bool forks) {
    const std::string which = base + std::to_string(number);
    const std::string at = which + "/" + std::to_string(index);
    const std::string part =
        "+" + std::to_string(work[index]) + " barrier +" + std::to_string(40 - work[index]) + " ) ";
    if (!forks) return "@team/" + at + " parallel " + part + ") @end/" + which + " ";
    return "parallel @fork/" + which + " @team/" + at + " " + part + "@end/" + which + " @join/" +
           which + " ) ";
  };
  story.thread("main", "main +20 " + team(0, 1, true) + team(0, 2, true) + "+20 )", group);
  for (std::size_t i = 1; i < work.size(); ++i) {
    story.thread("worker", "+20 " + team(i, 1, false) + team(i, 2, false), group);
  }
  story.definitions().clock.ticks_per_second = 1;
}

OpenMpFacts facts_of_story(const std::vector<std::uint64_t>& work,
                           std::map<std::string, std::string> properties = {},
                           std::uint32_t processes = 1) {
  profile::Story story;
  for (std::uint32_t group = 0; group < processes; ++group) add_process(story, work, group);
  story.definitions().properties = std::move(properties);
  return openmp_facts(story.fold());
}

TEST(ReportOpenMp, TellsAnUnevenLoopFromAnEvenOne) {
  const OpenMpFacts even = facts_of_story({30, 30, 30, 30}), uneven = facts_of_story({40, 8, 8, 8});
  ASSERT_EQ(even.regions.size(), 1U);
  EXPECT_DOUBLE_EQ(even.regions[0].imbalance(), 1);
  EXPECT_DOUBLE_EQ(even.regions[0].working, 240);
  EXPECT_DOUBLE_EQ(even.regions[0].waiting, 80);
  ASSERT_EQ(uneven.regions.size(), 1U);
  EXPECT_DOUBLE_EQ(uneven.regions[0].imbalance(), 80 / 32.0);
  EXPECT_DOUBLE_EQ(uneven.regions[0].waiting, 192);
  for (const OpenMpFacts& facts : {even, uneven}) {
    EXPECT_EQ(facts.regions[0].calls, 2U);
    EXPECT_EQ(facts.regions[0].threads, 4U);
    EXPECT_DOUBLE_EQ(facts.regions[0].time, 80);
    EXPECT_DOUBLE_EQ(facts.parallel, 80);
    EXPECT_DOUBLE_EQ(facts.serial, 40);
    EXPECT_DOUBLE_EQ(facts.idle, 120);
  }
}

TEST(ReportOpenMp, ImbalanceIsOfTheThreadsOfAProcess) {
  profile::Story story;
  add_process(story, {10, 10}, 0);
  add_process(story, {30, 10}, 1);
  const OpenMpFacts facts = openmp_facts(story.fold());
  ASSERT_EQ(facts.regions.size(), 1U);
  EXPECT_DOUBLE_EQ(facts.regions[0].imbalance(), (20 + 60) / (20 + 40.0));
  EXPECT_EQ(facts.regions[0].calls, 4U);
  EXPECT_EQ(facts.regions[0].threads, 2U);
  EXPECT_EQ(facts.at_once.processes, 2U);
}

TEST(ReportOpenMp, ARunWithoutTeamsHasNone) {
  profile::Story story;
  story.thread("main", "main +5 )");
  EXPECT_TRUE(openmp_facts(story.fold()).regions.empty());
}

// The time of a team inside another is not time outside of parallel regions.
TEST(ReportOpenMp, TeamsInsideTeamsCountForTheirRegionAlone) {
  profile::Story story;
  story.thread("main",
               "main parallel @fork/5 @team/5/0 parallel2 @fork/6 @team/6/0 +30 barrier +10 ) "
               "@end/6 @join/6 ) @end/5 @join/5 ) +10 )");
  story.thread("inner", "@team/6/1 parallel2 +40 ) @end/6");
  story.definitions().clock.ticks_per_second = 1;
  const OpenMpFacts facts = openmp_facts(story.fold());
  ASSERT_EQ(facts.regions.size(), 2U);
  EXPECT_EQ(facts.regions[0].threads, 1U);
  EXPECT_DOUBLE_EQ(facts.regions[0].waiting, 0);
  EXPECT_EQ(facts.regions[1].threads, 2U);
  EXPECT_DOUBLE_EQ(facts.regions[1].waiting, 10);
  EXPECT_DOUBLE_EQ(facts.regions[1].imbalance(), 40 / 35.0);
  EXPECT_DOUBLE_EQ(facts.parallel, 40);
  EXPECT_DOUBLE_EQ(facts.serial, 10);
}

// Each records the size of the team that it has forked.
TEST(ReportOpenMp, ThreadsThatRecordNothingElseForkTeams) {
  profile::Story story;
  story.thread("main", "main +200 )");
  for (int i = 0; i < 3; ++i) {
    const std::string wait = "+" + std::to_string(50 * i) + " ", team = std::to_string(5 + i);
    story.thread("made", wait + "parallel @fork/" + team + " @team/" + team +
                             "/0 openmp_team#2 +10 @end/" + team + " @join/" + team + " )");
    story.thread("worker", wait + "@team/" + team + "/1 parallel +5 ) @end/" + team);
  }
  story.definitions().clock.ticks_per_second = 1;
  const OpenMpFacts facts = openmp_facts(story.fold());
  ASSERT_EQ(facts.regions.size(), 1U);
  EXPECT_EQ(facts.regions[0].calls, 3U);
  EXPECT_EQ(facts.regions[0].threads, 2U);
  EXPECT_DOUBLE_EQ(facts.regions[0].time, 30);
  EXPECT_DOUBLE_EQ(facts.regions[0].imbalance(), 30 / 22.5);
  EXPECT_DOUBLE_EQ(facts.parallel, 30);
  EXPECT_EQ(facts.at_once.teams, 1U);
}

// Threads one and two fork a team in one round, and are members of each other's in the other one.
TEST(ReportOpenMp, ThreadsThatForkAndJoinInnerTeamsCountWhatTheyFork) {
  profile::Story story;
  story.thread("main",
               "parallel @fork/1 @team/1/0 openmp_team#2 +10 @end/1 @join/1 ) "
               "parallel @fork/3 @team/3/0 openmp_team#2 +10 @end/3 @join/3 )");
  story.thread("one",
               "@team/1/1 parallel parallel2 @fork/2 @team/2/0 openmp_team#2 +6 @end/2 @join/2 ) ) "
               "@end/1 +10 @team/4/1 parallel2 +2 ) @end/4");
  story.thread("two",
               "@team/2/1 parallel2 +4 ) @end/2 +10 @team/3/1 parallel parallel2 @fork/4 "
               "@team/4/0 openmp_team#2 +6 @end/4 @join/4 ) ) @end/3");
  story.definitions().clock.ticks_per_second = 1;
  const OpenMpFacts facts = openmp_facts(story.fold());
  ASSERT_EQ(facts.regions.size(), 2U);
  EXPECT_EQ(facts.regions[0].calls, 2U);
  EXPECT_EQ(facts.regions[1].calls, 2U);
  EXPECT_EQ(facts.regions[1].threads, 2U);
  EXPECT_DOUBLE_EQ(facts.regions[1].time, 8 / 2 + 10 / 2);
  EXPECT_DOUBLE_EQ(facts.regions[1].imbalance(), 1);
  EXPECT_DOUBLE_EQ(facts.parallel, 20);
}

TEST(ReportOpenMp, NamesTooManyThreadsInWords) {
  const std::vector<std::uint64_t> four = {30, 30, 30, 30};
  EXPECT_EQ(openmp_advice(facts_of_story(four)), "");
  EXPECT_EQ(openmp_advice(facts_of_story(four, {{kUsableCores, "8"}})),
            "OMP_NUM_THREADS is not set; the program may use 8 cores");
  EXPECT_EQ(openmp_advice(facts_of_story(four, {{kUsableCores, "2"}, {kOmpNumThreads, "4"}})),
            "OMP_NUM_THREADS is 4; the program may use 2 cores.\n"
            "4 threads on 2 cores: they take turns. OMP_NUM_THREADS=2 gives each thread a core");
  EXPECT_EQ(openmp_advice(facts_of_story(four, {{kUsableCores, "6"}}, 3)),
            "OMP_NUM_THREADS is not set; the program may use 6 cores.\n"
            "3 processes with 4 threads each, 12 threads in all, on 6 cores: they take turns. "
            "OMP_NUM_THREADS=2 gives each thread a core; the threads of BLAS "
            "(OPENBLAS_NUM_THREADS, MKL_NUM_THREADS) come on top");
}

// How the sentence about too many threads begins, on 2 cores.
std::string advice_of(profile::Story& story) {
  story.definitions().clock.ticks_per_second = 1;
  story.definitions().properties = {{kUsableCores, "2"}};
  const std::string text = openmp_advice(openmp_facts(story.fold()));
  const std::size_t from = text.find('\n'), to = text.find(" on 2 cores");
  return from == std::string::npos ? "" : text.substr(from + 1, to - from - 1);
}

// A process whose two threads have a team from `start` on; it lives from `birth` to tick 100.
void add_pair(profile::Story& story, std::uint32_t group, int birth, int start) {
  const auto number = std::to_string(group + 1), late = std::to_string(start - birth);
  const std::string region = "parallel ";
  story.thread("main",
               "+" + std::to_string(birth) + " main +" + late + " " + region + "@fork/" + number +
                   " @team/" + number + "/0 +10 @end/" + number + " @join/" + number + " ) +" +
                   std::to_string(90 - start) + " )",
               group);
  story.thread(
      "worker",
      "+" + std::to_string(start) + " @team/" + number + "/1 " + region + "+10 ) @end/" + number,
      group);
}

TEST(ReportOpenMp, TeamsThatWorkOneAfterAnotherShareTheCores) {
  profile::Story story;
  add_pair(story, 0, 0, 0);
  add_pair(story, 1, 0, 20);
  add_pair(story, 2, 40, 60);
  EXPECT_EQ(advice_of(story), "");
  add_pair(story, 3, 20, 65);
  EXPECT_EQ(advice_of(story), "2 processes with 2 threads each, 4 threads in all,");
}

TEST(ReportOpenMp, TeamsOfDifferentSizesAddUp) {
  profile::Story story;
  add_pair(story, 0, 0, 40);
  story.thread("alone", "+30 main parallel @fork/5 @team/5/0 +30 @end/5 @join/5 ) )", 1);
  EXPECT_EQ(advice_of(story), "2 processes with teams of up to 2 threads, 3 threads in all,");
}

}  // namespace
}  // namespace timeloom::tools
