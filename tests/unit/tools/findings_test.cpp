#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/memory/memory_facts.hpp"
#include "core/teams/openmp_properties.hpp"
#include "core/throttled.hpp"
#include "profile/growing_calls.hpp"
#include "tools/findings_story.hpp"

namespace timeloom::tools {
namespace {

using profile::CallTree;
using profile::growing_calls_text;
using profile::GrowingCalls;
using profile::kGrowingCalls;

profile::Story four_workers(const std::string& slow, std::uint32_t apart) {
  profile::Story story;
  story.thread("main", "main +10 lib.join +1600 ) )");
  for (std::uint32_t i = 0; i < 4; ++i) {
    story.thread("sim-" + std::to_string(i),
                 "lib.start worker " + (i == 2 ? slow : "simulate +500 ) ") + "+5 ) )",
                 apart * (i + 1));
  }
  for (std::size_t i = 0; i < story.definitions().groups.size(); ++i) {
    story.definitions().groups[i].name = i == 0 ? "main" : "rank " + std::to_string(i - 1);
  }
  return story;
}

TEST(Findings, AWorkerThatWorksMoreThanTheOthersIsNamedWithItsFunction) {
  profile::Story story = four_workers("simulate +1600 ) ", 0);
  const Findings threads = findings_in(tree_of(story));
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0].rule, "imbalance");
  EXPECT_EQ(threads[0].text,
            "sim-2 has 3.2 x the work of the other 3, in simulate: 1.60 s, they 505 ms");
  EXPECT_EQ(threads[0].command, "report --thread sim-2");
  profile::Story ranks = four_workers("simulate +1600 ) ", 1);
  const Findings processes = findings_in(tree_of(ranks));
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].command, "report --group 'rank 2'");
}

TEST(Findings, EvenWorkAndMoreTasksAreNoImbalance) {
  profile::Story even = four_workers("simulate +620 ) ", 0);
  EXPECT_EQ(rules_in(tree_of(even)), "");
  profile::Story story;
  for (int i = 0; i < 3; ++i) {
    std::string tasks;
    for (int task = 0; task < (i == 0 ? 9 : 3); ++task) tasks += "task +100 ) ";
    story.thread("pool-" + std::to_string(i), "lib.take " + tasks + (i == 0 ? ")" : "+600 )"));
  }
  EXPECT_EQ(rules_in(tree_of(story)), "");
}

TEST(Findings, AWorkerThatGoesOnAloneIsASerialEnd) {
  profile::Story story = four_workers("simulate +1500 ) ", 0);
  CallTree tree = tree_of(story);
  wait_in(tree, 3, "simulate", 1000);
  const Findings found = findings_in(tree);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "serial-end");
  EXPECT_EQ(found[0].text,
            "sim-2 goes on alone for 1.00 s after the other 3 have ended (62.1% of the run)");
}

TEST(Findings, AWorkerThatWaitsForAChildIsNoSerialEnd) {
  profile::Story story = four_workers("simulate +1500 ) ", 0);
  story.thread("child", "wait +650 ) solve +900 )", 5);
  CallTree tree = tree_of(story);
  wait_in(tree, 3, "simulate", 1000);
  wait_in(tree, 5, "wait", 650);
  EXPECT_EQ(rules_in(tree), "");
}

TEST(Findings, ProcessesThatAllImportAreCounted) {
  for (const bool much : {true, false}) {
    profile::Story story;
    story.thread("main", "main +2000 )");
    for (std::uint32_t i = 1; i <= 4; ++i) {
      story.thread("worker", std::string("import +") + (much ? "800" : "100") + " ) task +700 )",
                   i);
    }
    const CallTree tree = tree_of(story);
    EXPECT_EQ(rules_in(tree), much ? "imports " : "");
    if (!much) continue;
    EXPECT_EQ(findings_in(tree)[0].text,
              "4 processes import for 800 ms or more each, 53.3% of their work");
  }
}

profile::Story clerks(const std::string& script) {
  profile::Story story;
  for (int i = 0; i < 4; ++i) story.thread("clerk-" + std::to_string(i), script);
  return story;
}

TEST(Findings, ThreadsThatWaitInTheTakingOfALockAreAConvoy) {
  profile::Story story = clerks("post _thread.lock.acquire +900 ) audit +300 ) )");
  CallTree tree = tree_of(story);
  for (std::size_t i = 0; i < 4; ++i) wait_in(tree, i, "_thread.lock.acquire", 900);
  const Findings found = findings_in(tree);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "lock-convoy");
  EXPECT_EQ(found[0].text, "4 threads wait 3.60 s for a lock in post, while audit works");
  EXPECT_EQ(found[0].command, "report --function post");
  EXPECT_EQ(rules_in(with_colons(tree)), "lock-convoy ");
}

TEST(Findings, TheSourceTellsALockFromSleep) {
  const std::string path = testing::TempDir() + "findings_test.py";
  std::ofstream(path) << "def post():\n    with LOCK:\n        audit()\n"
                         "def fetch():\n    time.sleep(1)\n";
  for (const auto& [line, expected] : {std::pair(1u, "lock-convoy "), {4u, ""}}) {
    profile::Story story = clerks("post +900 audit +300 ) )");
    story.definitions().regions[0].file = path;
    story.definitions().regions[0].first_line = line;
    story.definitions().clock.realtime = std::uint64_t{1} << 62;
    CallTree tree = tree_of(story);
    for (std::size_t i = 0; i < 4; ++i) wait_in(tree, i, "post", 900);
    EXPECT_EQ(rules_in(tree), expected);
  }
  std::filesystem::remove(path);
}

TEST(Findings, ThreadsThatWorkOneAtATimeInTheFunctionsInWhichTheyWaitTakeTurns) {
  profile::Story story = clerks("spin +1200 )");
  CallTree tree = tree_of(story);
  for (std::size_t i = 0; i < 4; ++i) wait_in(tree, i, "spin", 900);
  const Findings found = findings_in(tree);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "turns");
  EXPECT_EQ(found[0].text,
            "4 threads work one at a time, in spin: 1.20 s of work in 1.20 s (the GIL)");
  // They run at the same time.
  for (std::size_t i = 0; i < 4; ++i) tree.locations[i].samples[0].value /= 3;
  EXPECT_EQ(rules_in(tree), "");
}

TEST(Findings, ThreadsOfAPoolTakeTurnsInFunctionsOfLibraries) {
  profile::Story story =
      clerks("threading._bootstrap lib.spin +1200 ) threading.Condition.wait +300 ) )");
  for (Region& region : story.definitions().regions) {
    if (region.name != "lib.spin") region.file = "<frozen os>";
  }
  CallTree tree = tree_of(story);
  for (std::size_t i = 0; i < 4; ++i) {
    wait_in(tree, i, "lib.spin", 900);
    wait_in(tree, i, "threading.Condition.wait", 300);
  }
  const Findings found = findings_in(tree);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text,
            "4 threads work one at a time, in lib.spin: 1.20 s of work in 1.50 s (the GIL)");
  EXPECT_EQ(findings_in(with_colons(tree))[0].text,
            "4 threads work one at a time, in lib:spin: 1.20 s of work in 1.50 s (the GIL)");
}

TEST(Findings, TeamsWithMoreThreadsThanCoresAreFound) {
  for (const char* cores : {"1", "2"}) {
    profile::Story story;
    story.thread("main",
                 "main parallel @fork/5 @team/5/0 +30 barrier +10 ) @end/5 "
                 "@join/5 ) +10 )");
    story.thread("other", "@team/5/1 parallel +40 ) @end/5");
    story.definitions().properties[kUsableCores] = cores;
    EXPECT_EQ(rules_in(tree_of(story)), cores[0] == '1' ? "too-many-threads " : "");
  }
}

TEST(Findings, CallsThatGrowAreFoundWhereTheyAreMuchOfTheWork) {
  for (const bool much : {true, false}) {
    profile::Story story;
    story.thread("main", std::string("main +") + (much ? "100" : "9000") + " remember +700 ) )");
    CallTree tree = tree_of(story);
    const std::string entry = region_entry(tree.definitions.regions[1]);
    tree.definitions.properties[kGrowingCalls] =
        growing_calls_text({{8000, 60, 9'000'000, 2, entry}, {8000, 60, 9'000'000, 2, "other"}});
    EXPECT_EQ(rules_in(tree), much ? "growing-calls " : "");
    if (!much) continue;
    EXPECT_EQ(findings_in(tree)[0].text,
              "calls of remember from 2 functions grow from 60.0 ns to 9.00 ms each: 700 ms in 1 "
              "calls");
  }
}

TEST(Findings, VeryManyTinyCallsOfAFunctionThatCallsNoOtherAreFound) {
  for (const std::uint64_t visits : {2'000'000, 20'000}) {
    profile::Story story;
    story.thread("main", "main +100 tiny +700 ) )");
    CallTree tree = tree_of(story);
    tree.locations[0].cells[1].statistics.visits = visits;
    EXPECT_EQ(rules_in(tree), visits == 2'000'000 ? "tiny-calls " : "");
    tree.definitions.regions[1].name = "main.<locals>.<genexpr>";
    EXPECT_EQ(rules_in(tree), "");
  }
}

TEST(Findings, MemoryThatOnlyGrowsIsNamedWithItsHolder) {
  profile::Story story;
  story.thread("main", "main +100 )");
  CallTree tree = tree_of(story);
  MemoryGrowth growth{0, 12'000'000, 112'000'000, 6'000'000'000, 86'000'000, "shop.Cache.add"};
  tree.definitions.properties[kMemoryGrowth] = to_text(growth);
  EXPECT_EQ(findings_in(tree)[0].text,
            "memory only grows, from 12.0 MB to 112 MB in 6.00 s: ~86.0 MB of it is held by "
            "shop.Cache.add");
  growth.of_region = 40'000'000;
  tree.definitions.properties[kMemoryGrowth] = to_text(growth);
  EXPECT_EQ(findings_in(tree)[0].text, "memory only grows, from 12.0 MB to 112 MB in 6.00 s");
  for (const char* wrong :
       {"", "0 1 2", "0 9 5 1 1 f", "x 1 2 3 4 f", "0 1 2 3 99999999999999999999 f"}) {
    tree.definitions.properties[kMemoryGrowth] = wrong;
    EXPECT_EQ(rules_in(tree), "") << wrong;
  }
}

// Each task is suspended in the function that it awaits; the thread that runs them is not.
CallTree tasks_of(std::size_t tasks, const std::string& awaited) {
  profile::Story story;
  story.thread("main", "main +640 )");
  for (std::size_t i = 0; i < tasks; ++i) {
    story.thread("fetch-" + std::to_string(i),
                 "fetch +5 " + awaited + " suspended +610 ) +1 ) +4 )");
  }
  for (Region& region : story.definitions().regions) {
    if (region.name == "suspended") region.paradigm = Paradigm::kMeasurement;
    if (region.name == "libread") region.name = "asyncio.streams.StreamReader._wait_for_data";
    if (region.name == "libget") region.name = "asyncio.queues.Queue.get";
  }
  return tree_of(story);
}

TEST(Findings, ManyEqualTasksThatWaitForOneThingAreASentence) {
  CallTree tree = tasks_of(12, "libread");
  for (Region& region : tree.definitions.regions) {
    if (region.name.starts_with("asyncio.")) region.file = "<frozen os>";
  }
  const Findings found = findings_in(tree);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "suspended-tasks");
  EXPECT_EQ(found[0].text,
            "12 x fetch waited for a socket or pipe 610 ms each, in "
            "asyncio.streams.StreamReader._wait_for_data");
  EXPECT_EQ(found[0].command, "report --function fetch");
  EXPECT_EQ(findings_in(tasks_of(12, "answer"))[0].text,
            "12 x fetch waited 610 ms each, in answer");
  EXPECT_EQ(rules_in(tasks_of(9, "answer")), "");
  for (const CallTree& idle : {tasks_of(12, "libget"), with_colons(tasks_of(12, "libget"))}) {
    EXPECT_EQ(rules_in(idle), "");  // they have nothing to do
  }
  EXPECT_EQ(findings_in(with_colons(tree))[0].text,
            "12 x fetch waited for a socket or pipe 610 ms each, in "
            "asyncio.streams.StreamReader:_wait_for_data");
}

TEST(Findings, WithHardlyAnyTimeAtStakeAreLeftOut) {
  profile::Story story;
  story.thread("main", "main +10 remember +70 ) )");
  CallTree tree = tree_of(story);
  tree.definitions.properties[kGrowingCalls] =
      growing_calls_text({{1, 60, 90, 1, region_entry(tree.definitions.regions[1])}});
  const Answer answer(tree, {});
  EXPECT_EQ(find(tree, answer, {}, 0.08, Terminal()).size(), 1u);
  EXPECT_EQ(find(tree, answer, {}, 1000, Terminal()).size(), 0u);
}

TEST(Findings, AreNotLeftOutSinceTheRunWaitedForABusyMachine) {
  profile::Story story = four_workers("simulate +1600 ) ", 0);
  const CallTree tree = tree_of(story);
  EXPECT_EQ(find(tree, Answer(tree, {}), {}, 1000, Terminal()).size(), 1u);
}

TEST(Findings, CallsThatGrowFromOnePlaceAreToldApartFromTheOthers) {
  profile::Story story;
  story.thread("main", "main +100 remember +700 ) remember +10 ) )");
  CallTree tree = tree_of(story);
  tree.definitions.properties[kGrowingCalls] =
      growing_calls_text({{1, 60, 9'000'000, 1, region_entry(tree.definitions.regions[1])}});
  EXPECT_EQ(findings_in(tree)[0].text,
            "calls of remember grow from 60.0 ns to 9.00 ms each in 1 of 2 calls: 710 ms in all");
}

TEST(Findings, AreRankedTheDearestFirst) {
  profile::Story story = four_workers("simulate +1600 ) ", 0);
  CallTree tree = tree_of(story);
  std::vector<GrowingCalls> growing;
  for (const char* name : {"worker", "simulate", "main"}) {
    const auto region = std::ranges::find(tree.definitions.regions, name, &Region::name);
    growing.push_back({1000, 1, 2, 1, region_entry(*region)});
  }
  tree.definitions.properties[kGrowingCalls] = growing_calls_text(growing);
  const Findings found = findings_in(tree);
  ASSERT_EQ(found.size(), 4u);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_GE(found[i - 1].seconds, found[i].seconds);
}

TEST(Findings, AnEmptyRunHasNone) {
  CallTree tree;
  EXPECT_EQ(rules_in(tree), "");
}

}  // namespace
}  // namespace timeloom::tools
