// Findings about event loops, pools, collections of garbage, transfers and the GIL: where each is
// right, and where it must be silent.

#include <algorithm>

#include <gtest/gtest.h>

#include "core/engines/engine_regions.hpp"
#include "core/io.hpp"
#include "core/regions/collection_region.hpp"
#include "tools/findings_story.hpp"

namespace timeloom::tools {
namespace {

using profile::CallTree;

constexpr char kLibraryFile[] = "<frozen os>";

Region* region_named(profile::Story& story, const std::string& name) {
  return &*std::ranges::find(story.definitions().regions, name, &Region::name);
}

std::string repeated(int times, const std::string& script) {
  std::string all;
  for (int i = 0; i < times; ++i) all += script;
  return all;
}

profile::Story loop_with(const std::string& steps) {
  profile::Story story;
  story.thread("main", "asyncio.run " + steps + ")");
  for (const char* name : {"asyncio.run", "asyncio.events.Handle._run"}) {
    region_named(story, name)->file = kLibraryFile;
  }
  return story;
}

std::string step(const std::string& function, int ms) {
  return "asyncio.events.Handle._run " + function + " inner +" + std::to_string(ms) + " ) ) ) ";
}

TEST(Findings, AFunctionThatHoldsTheEventLoopIsFound) {
  profile::Story story = loop_with(repeated(4, step("handler", 40) + repeated(8, step("tick", 1))) +
                                   step("handler", 90));
  const CallTree tree = tree_of(story);
  const Findings found = findings_in(tree);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "held-loop");
  EXPECT_EQ(
      found[0].text,
      "handler holds the event loop up to 90.0 ms at a time, 250 ms in all: other tasks wait");
  EXPECT_EQ(found[0].command, "report --function handler");
  EXPECT_DOUBLE_EQ(found[0].seconds, 0.25);
  EXPECT_EQ(rules_in(with_colons(tree)), "held-loop ");
}

// Waiting holds the loop as work does, unless it was for a processor.
TEST(Findings, BlockingCallsHoldTheEventLoop) {
  profile::Story story = loop_with(repeated(3, step("fetch", 100) + repeated(8, step("tick", 1))));
  for (const bool blocked : {true, false}) {
    CallTree tree = tree_of(story);
    tree.definitions.metrics.push_back(cause_metric(WaitingCause::kProcessor));
    wait_in(tree, 0, "inner", 297);
    if (!blocked) wait_in(tree, 0, "inner", 297, 1);
    EXPECT_EQ(rules_in(tree), blocked ? "held-loop " : "");
  }
}

// A coroutine that blocks in one step of three.
TEST(Findings, EmptyStepsDoNotHideLongOnes) {
  for (const int empty : {2, 12}) {
    profile::Story story = loop_with(repeated(
        6, step("fetch", 40) + repeated(empty, step("fetch", 0)) + repeated(20, step("tick", 0))));
    CallTree tree = tree_of(story);
    wait_in(tree, 0, "inner", 238);
    EXPECT_EQ(rules_in(tree), empty == 2 ? "held-loop " : "");
  }
}

TEST(Findings, ALoopWithOneTaskAndShortStepsAreNotHeld) {
  profile::Story alone = loop_with(repeated(5, step("main", 100)));
  EXPECT_EQ(rules_in(tree_of(alone)), "");
  // What the program does before it has other tasks is one long step.
  profile::Story first =
      loop_with(step("main", 500) + step("main", 1) + repeated(40, step("tick", 1)));
  EXPECT_EQ(rules_in(tree_of(first)), "");
  profile::Story imports =
      loop_with(repeated(3, step("app.<module>", 100)) + repeated(40, step("tick", 1)));
  EXPECT_EQ(rules_in(tree_of(imports)), "");
  profile::Story busy = loop_with(repeated(300, step("handler", 3) + step("tick", 1)));
  EXPECT_EQ(rules_in(tree_of(busy)), "");
}

// Imports around the loop are none of its steps.
TEST(Findings, ALoopThatAnImportedModuleRunsIsHeldAsWell) {
  profile::Story story;
  story.thread("main", "import app.<module> asyncio.run " +
                           repeated(4, step("handler", 40) + repeated(8, step("tick", 1))) +
                           ") ) )");
  for (const char* name : {"asyncio.run", "asyncio.events.Handle._run"}) {
    region_named(story, name)->file = kLibraryFile;
  }
  EXPECT_EQ(rules_in(tree_of(story)), "held-loop ");
}

CallTree with_tasks(int ms_of_tasks, std::uint64_t tasks) {
  profile::Story story;
  story.thread("worker",
               "multiprocessing.Pool +900 square own +" + std::to_string(ms_of_tasks) + " ) ) )");
  region_named(story, "multiprocessing.Pool")->file = kLibraryFile;
  Region& task = *region_named(story, "square");
  task.role = RegionRole::kTask;
  task.paradigm = Paradigm::kUser;
  task.group = kPoolGroup;
  CallTree tree = tree_of(story);
  for (profile::Cell& cell : tree.locations[0].cells) {
    const RegionId region = tree.nodes[cell.node.value()].region;
    if (tree.definitions.regions[region.value()].name == "square") cell.statistics.visits = tasks;
  }
  return tree;
}

TEST(Findings, TasksThatAreSmallerThanHandingThemOverAreFound) {
  const Findings found = findings_in(with_tasks(100, 3000));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "small-tasks");
  EXPECT_EQ(found[0].text,
            "3,000 tasks of multiprocessing work 33.3 us each, and handing one over takes 300 us: "
            "fewer, larger tasks");
  EXPECT_EQ(rules_in(with_colons(with_tasks(100, 3000))), "small-tasks ");
  EXPECT_EQ(rules_in(with_tasks(100, 200)), "");   // few
  EXPECT_EQ(rules_in(with_tasks(800, 3000)), "");  // their work is as much
  CallTree waits = with_tasks(9000, 3000);
  wait_in(waits, 0, "own", 8900);
  EXPECT_EQ(rules_in(waits), "");  // they wait for an answer
}

TEST(Findings, ImportsOfAnEngineAreNotHandingOver) {
  profile::Story story;
  story.thread("worker", "import multiprocessing.setup +900 ) ) square +100 )");
  region_named(story, "multiprocessing.setup")->file = kLibraryFile;
  Region& task = *region_named(story, "square");
  task.role = RegionRole::kTask;
  task.paradigm = Paradigm::kUser;
  task.group = kPoolGroup;
  CallTree tree = tree_of(story);
  tree.locations[0].cells.back().statistics.visits = 3000;
  EXPECT_EQ(rules_in(tree), "");
}

TEST(Findings, CollectionsThatTakeMuchOfTheWorkAreFound) {
  for (const bool much : {true, false}) {
    profile::Story story;
    story.thread("main", std::string("main +") + (much ? "300" : "2000") +
                             " build gc.collect +90 ) gc.collect +90 ) ) import libmake gc.collect "
                             "+500 ) ) ) )");
    region_named(story, "gc.collect")->group = "gc";
    const CallTree tree = tree_of(story);
    EXPECT_EQ(rules_in(tree), much ? "garbage-collection " : "");
    if (!much) continue;
    EXPECT_EQ(findings_in(tree)[0].text,
              "2 collections of garbage take 180 ms, 18.4% of the work, most of it in build");
  }
}

// `function` calls `library` 5,000 times, each time for `size` bytes of the metric.
CallTree with_transfers(const std::string& function, const std::string& library, const char* metric,
                        std::uint64_t size) {
  constexpr std::uint64_t kCalls = 5000;
  profile::Story story;
  story.thread("main", "main " + function + " " + library + " +400 ) ) +200 )");
  CallTree tree = tree_of(story);
  Metric bytes;
  bytes.name = metric;
  tree.definitions.metrics.push_back(bytes);
  profile::Cell& cell = tree.locations[0].cells.back();
  cell.statistics.visits = kCalls;
  tree.locations[0].metrics.push_back({MetricId{1}, cell.node, {}});
  tree.locations[0].metrics.back().statistics.sum = static_cast<double>(kCalls * size);
  return tree;
}

TEST(Findings, ManySmallTransfersAreFound) {
  for (const std::uint64_t size : {20, 8192}) {
    const CallTree tree = with_transfers("log", "libwrite", kIoBytesWritten, size);
    EXPECT_EQ(rules_in(tree), size == 20 ? "small-transfers " : "");
    if (size != 20) continue;
    EXPECT_EQ(findings_in(tree)[0].text,
              "5,000 writes of 20 B on average in log take 400 ms: use a buffer");
  }
}

// A reader of a pipe waits for the writer.
TEST(Findings, ReadsThatWaitAreNotSmallTransfers) {
  CallTree tree = with_transfers("receive", "libread", kIoBytesRead, 4);
  EXPECT_EQ(rules_in(tree), "small-transfers ");
  wait_in(tree, 0, "libread", 390);
  EXPECT_EQ(rules_in(tree), "");
}

TEST(Findings, WaitingForTheGilIsFoundWhereItWasSeen) {
  for (const std::uint64_t gil : {700, 100}) {
    profile::Story story;
    for (const char* name : {"a", "b", "c"}) story.thread(name, "spin +1200 )");
    CallTree tree = tree_of(story);
    tree.definitions.metrics.push_back(cause_metric(WaitingCause::kGil));
    for (std::size_t i = 0; i < 3; ++i) {
      wait_in(tree, i, "spin", 800);
      wait_in(tree, i, "spin", gil, 1);
    }
    EXPECT_EQ(rules_in(tree), gil == 700 ? "gil " : "turns ");
    if (gil != 700) continue;
    EXPECT_EQ(findings_in(tree)[0].text,
              "3 threads wait 2.10 s for the GIL, in spin: they run Python one at a time");
  }
}

}  // namespace
}  // namespace timeloom::tools
