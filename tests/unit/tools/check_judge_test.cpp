#include "tools/check/check_judge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "core/measuring_cost.hpp"
#include "core/throttled.hpp"
#include "core/waiting_metric.hpp"
#include "profile/story.hpp"
#include "tools/check/check_text.hpp"

namespace timeloom::tools {
namespace {

// Ticks are milliseconds.
profile::CallTree judged_tree() {
  profile::Story story;
  story.thread("main",
               "main +10 app.load +30 ) app.load +50 ) db.load +20 app.fib +5 app.fib +3 ) ) ) )");
  story.thread("worker", "db.load +60 )");
  story.definitions().clock.ticks_per_second = 1000;
  story.definitions().clock.length = 250;
  return story.fold();
}

// The lines without the rule itself.
std::vector<std::string> lines(const std::vector<std::string>& texts,
                               const profile::CallTree& tree) {
  std::vector<Rule> rules;
  for (const std::string& text : texts) rules.push_back(parse_rule(text));
  std::vector<std::string> result;
  for (const Verdict& verdict : judge(rules, tree)) result.push_back(line_of(verdict));
  return result;
}

std::string line(const std::string& rule, const profile::CallTree& tree = judged_tree()) {
  return lines({rule}, tree).front();
}

TEST(CheckJudge, MeasuresEveryQuantity) {
  EXPECT_EQ(line("total(main) == 118ms"), "PASS 118 ms");
  EXPECT_EQ(line("self(main) == 10ms"), "PASS 10 ms");
  EXPECT_EQ(line("visits(app.load) == 2"), "PASS 2");
  EXPECT_EQ(line("min(app.load) < 30ms"), "FAIL 30 ms");
  EXPECT_EQ(line("max(app.load) <= 0.05s"), "PASS 0.05 s");
  EXPECT_EQ(line("mean(app.load) >= 41ms"), "FAIL 40 ms");
  EXPECT_EQ(line("total(db.load) > 88ms"), "FAIL 88 ms");
  EXPECT_EQ(line("self(db.load) == 80ms"), "PASS 80 ms");
  EXPECT_EQ(line("wall < 0.25s"), "FAIL 0.25 s");
  EXPECT_EQ(line("threads == 2"), "PASS 2");
  EXPECT_EQ(line("processes == 1"), "PASS 1");
}

TEST(CheckJudge, TellsWorkFromWaiting) {
  profile::CallTree tree = judged_tree();
  EXPECT_EQ(line("work < 1s", tree), "ERROR the run has not measured for how long it waited");
  EXPECT_EQ(line("waiting(db.load) < 1s", tree),
            "ERROR the run has not measured for how long it waited");
  tree.definitions.metrics = {waiting_metric()};
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const Region& region = tree.definitions.regions[tree.nodes[i].region.value()];
    if (region.name == "app.load")
      tree.locations[0].samples.push_back({MetricId{0}, profile::NodeId{i}, 70'000'000});
  }
  EXPECT_EQ(line("work < 1s", tree), "PASS 0.108 s");
  EXPECT_EQ(line("work() < 1s", tree), "PASS 0.108 s");
  EXPECT_EQ(line("waiting == 70ms", tree), "PASS 70 ms");
  EXPECT_EQ(line("work(app.load) < 9ms", tree), "FAIL 10 ms");
  EXPECT_EQ(line("waiting(app.load) < 1s", tree), "PASS 0.07 s");
  EXPECT_EQ(line("waiting_lock(app.load) < 1s", tree),
            "ERROR the run has no causes of waiting; record it with timeloom run --causes");
  EXPECT_EQ(line("gc < 1s", tree),
            "ERROR no collection of garbage is recorded in the run: none happened, or --no-gc was "
            "given");
}

TEST(CheckJudge, MeasuresCollections) {
  profile::Story story;
  story.thread("main", "main +10 gc.collect +5 callback +3 ) ) gc.collect +2 ) )");
  for (Region& region : story.definitions().regions) {
    if (region.name == "gc.collect") region.group = "gc";
  }
  story.definitions().clock.ticks_per_second = 1000;
  EXPECT_EQ(line("gc <= 9ms", story.fold()), "FAIL 10 ms");
}

TEST(CheckJudge, CountsTheTimeOfRecursionOnceAndItsVisitsAll) {
  EXPECT_EQ(line("total(app.fib) == 8ms"), "PASS 8 ms");
  EXPECT_EQ(line("visits(app.fib) == 2"), "PASS 2");
  EXPECT_EQ(line("mean(app.fib) == 5.5ms"), "PASS 5.5 ms");
}

TEST(CheckJudge, SharesAreOfTheTimeOfAllThreads) {
  // 118 ms and 60 ms.
  EXPECT_EQ(line("self(db.load) < 44%"), "FAIL 44.9438%");
  EXPECT_EQ(line("total(app.load) < 45%"), "PASS 44.9438%");
}

TEST(CheckJudge, APatternHasToHoldForEach) {
  EXPECT_EQ(line("total(*.load) <= 88ms"), "PASS 88 ms, db.load; all 2 regions hold");
  EXPECT_EQ(line("total(*.load) < 85ms"), "FAIL 88 ms, db.load; 1 of 2 regions do not hold");
  EXPECT_EQ(line("total(*.load) > 85ms"), "FAIL 80 ms, app.load; 1 of 2 regions do not hold");
  EXPECT_EQ(line("total(*.load) == 88ms"), "FAIL 80 ms, app.load; 1 of 2 regions do not hold");
  EXPECT_EQ(line("all total(app.*) < 80ms"), "FAIL 80 ms, app.load; 1 of 2 regions do not hold");
  EXPECT_EQ(line("visits(mai?) == 1"), "PASS 1, main");
}

TEST(CheckJudge, AnyIsSatisfiedByOne) {
  EXPECT_EQ(line("any total(*.load) > 85ms"), "PASS 88 ms, db.load; 1 of 2 regions hold");
  EXPECT_EQ(line("any total(*.load) > 90ms"), "FAIL 88 ms, db.load; 0 of 2 regions hold");
  EXPECT_EQ(line("any total(*.load) == 80ms"), "PASS 80 ms, app.load; 1 of 2 regions hold");
}

TEST(CheckJudge, ANameThatIsThereIsNoPattern) {
  profile::Story story;
  story.thread("main", "test[1] +1 ) test1 +2 )");
  const profile::CallTree tree = story.fold();
  EXPECT_EQ(line("visits(test[1]) == 1", tree), "PASS 1");
  EXPECT_EQ(line("visits(test[0-9]) == 1", tree), "PASS 1, test1");
}

TEST(CheckJudge, RegionsOfOneNameAreToldApart) {
  profile::Story story;
  story.thread("main", "f +1 ) g +2 ) g +2 )");
  profile::CallTree tree = story.fold();
  tree.definitions.regions[1].name = "f";
  EXPECT_EQ(line("visits(f) < 2", tree), "FAIL 2 (g.py:2); 1 of 2 regions do not hold");
}

TEST(CheckJudge, AnUnknownRegionIsAnErrorWithTheNearest) {
  const std::string none = "ERROR no region of the run has this name";
  EXPECT_EQ(line("visits(load) < 3"), none + "; did you mean db.load, app.load?");
  EXPECT_EQ(line("visits(app.laod) < 3"), none + "; did you mean app.load?");
  EXPECT_EQ(line("visits(fob) < 3"), none + "; did you mean app.fib?");
  EXPECT_EQ(line("visits(something) < 3"), none + "; timeloom report --flat lists them");
  EXPECT_EQ(line("total(web.*) < 3s"),
            "ERROR no region of the run matches; timeloom report --flat lists them");
  EXPECT_EQ(line("visits(fob) == 0"), "PASS not in the run");
  EXPECT_EQ(line("visits(web.*) < 1"), "PASS not in the run");
}

TEST(CheckJudge, WhatTheRunDoesNotSayIsAnError) {
  profile::CallTree tree = judged_tree();
  EXPECT_EQ(line("overhead < 5%", tree), "ERROR the run does not say what measuring it cost");
  tree.definitions.properties[kRunCost] = "events=0.4 start=0.1 weave=3 cpu=8 wall=8";
  EXPECT_EQ(line("overhead < 4.2%", tree), "FAIL 6.25%");
  EXPECT_EQ(line("overhead < 5%", tree), "UNDECIDED 6.25% (4.25% to 18.75%)");
  EXPECT_EQ(line("overhead > 5%", tree), "UNDECIDED 6.25% (4.25% to 18.75%)");
  EXPECT_EQ(line("overhead < 18.7%", tree), "UNDECIDED 6.25% (4.25% to 18.75%)");
  EXPECT_EQ(line("overhead < 18.8%", tree), "PASS 6.25%");
  EXPECT_EQ(line("overhead > 4.2%", tree), "PASS 6.25%");
  for (profile::LocationProfile& location : tree.locations) {
    for (profile::Cell& cell : location.cells) cell.statistics.min = UINT64_MAX;
  }
  EXPECT_EQ(line("min(main) < 5s", tree), "ERROR the profile does not say it of main");
}

TEST(CheckJudge, TimesThatWereCutShortAreLowerLimits) {
  profile::CallTree tree = judged_tree();
  for (const Region& region : tree.definitions.regions) {
    if (region.name == "app.load")
      tree.definitions.properties[kTruncated] = throttled_text({&region});
  }
  const std::string unknown =
      "ERROR the profile does not say it of app.load, which was not timed to the end (--overhead)";
  for (const char* rule :
       {"total(app.load) < 2s", "self(app.load) < 2s", "max(app.load) < 2s", "mean(app.load) < 2s",
        "min(app.load) > 1ms", "total(app.load) == 1s", "self(app.load) < 99%"}) {
    EXPECT_EQ(line(rule, tree), unknown) << rule;
  }
  EXPECT_EQ(line("total(app.load) > 79ms", tree), "PASS 80 ms");
  EXPECT_EQ(line("total(app.load) < 79ms", tree), "FAIL 80 ms");
  EXPECT_EQ(line("visits(app.load) == 2", tree), "PASS 2");
  EXPECT_EQ(line("total(main) == 118ms", tree), "PASS 118 ms");
}

profile::CallTree sample_without(const char* what) {
  profile::CallTree tree = judged_tree();
  tree.definitions.properties[std::string("timeloom::") + what] = "3485220";
  return tree;
}

constexpr char kUndecided[] = "; the lost parts of the run could change that";

TEST(CheckJudge, LostEventsLeaveUndecidedWhatTheyCouldChange) {
  const profile::CallTree tree = sample_without("lost_events");
  for (const auto& [rule, recorded] : std::map<std::string, std::string>{
           {"visits(app.load) <= 1000000", "2"},
           {"visits(app.load) == 2", "2"},
           {"visits(app.load) >= 3", "2"},
           {"visits(none) == 0", "not in the run"},
           {"total(main) < 2s", "0.118 s"},
           {"total(main) > 1ms", "118 ms"},
           {"self(main) < 2s", "0.01 s"},
           {"max(app.load) > 1ms", "50 ms"},
           {"min(app.load) > 1ms", "30 ms"},
           {"mean(app.load) > 1ms", "40 ms"},
           {"self(db.load) < 99%", "44.9438%"},
           {"wall < 10s", "0.25 s"},
           {"threads == 2", "2"},
           {"processes <= 1", "1"},
           {"visits(*.load) >= 2", "2, app.load; all 2 regions hold"},
           {"any visits(*.load) > 2", "2, app.load; 0 of 2 regions hold"}}) {
    EXPECT_EQ(line(rule, tree), "UNDECIDED " + recorded + kUndecided) << rule;
  }
  EXPECT_EQ(line("visits(app.load) >= 2", tree), "PASS 2");
  EXPECT_EQ(line("visits(app.load) <= 1", tree), "FAIL 2");
  EXPECT_EQ(line("visits(app.load) == 1", tree), "FAIL 2");
  EXPECT_EQ(line("visits(*.load) >= 1", tree), "PASS 2, app.load; all 2 regions hold");
  EXPECT_EQ(line("any visits(*.load) >= 2", tree), "PASS 2, app.load; all 2 regions hold");
  EXPECT_EQ(line("visits(*.load) <= 1", tree), "FAIL 2, app.load; 2 of 2 regions do not hold");
  EXPECT_EQ(line("threads >= 2", tree), "PASS 2");
  EXPECT_EQ(line("visits(fob) < 3", tree),
            "ERROR no region of the run has this name; did you mean app.fib?");
}

TEST(CheckJudge, TimesUpToTheSizeLimitAreLowerLimits) {
  profile::CallTree tree = sample_without("lost_events");
  tree.definitions.properties["timeloom::size_limit"] = "4194304";
  EXPECT_EQ(line("total(main) > 1ms", tree), "PASS 118 ms");
  EXPECT_EQ(line("total(main) < 1ms", tree), "FAIL 118 ms");
  EXPECT_EQ(line("wall > 1ms", tree), "PASS 250 ms");
  EXPECT_EQ(line("total(main) < 2s", tree), std::string("UNDECIDED 0.118 s") + kUndecided);
}

TEST(CheckJudge, LossesThatTakeNothingAwayChangeNoAnswer) {
  for (const char* what :
       {"closed_regions", "folded_events", "unmeasured_processes", "sub_interpreters"}) {
    EXPECT_EQ(line("visits(app.load) <= 2", sample_without(what)), "PASS 2") << what;
    EXPECT_EQ(line("total(main) < 2s", sample_without(what)), "PASS 0.118 s") << what;
  }
  EXPECT_EQ(line("visits(app.load) >= 1", sample_without("kept_rewinds")),
            std::string("UNDECIDED 2") + kUndecided);
}

TEST(CheckJudge, ShowsEnoughDigitsToTellFromTheLimit) {
  profile::CallTree tree = judged_tree();
  tree.definitions.clock.ticks_per_second = 1'000'000'000;
  tree.definitions.clock.length = 2'000'000'001;
  EXPECT_EQ(line("wall <= 2s", tree), "FAIL 2.000000001 s");
  EXPECT_EQ(line("wall <= 2.1s", tree), "PASS 2 s");
  tree.definitions.clock.length = 1'234'567;
  EXPECT_EQ(line("wall <= 2s", tree), "PASS 0.00123457 s");
  EXPECT_EQ(line("wall <= 2min", tree), "PASS 1.23 ms");
}

}  // namespace
}  // namespace timeloom::tools
