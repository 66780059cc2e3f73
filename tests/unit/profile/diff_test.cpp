#include "profile/diff.hpp"

#include <gtest/gtest.h>

#include "core/throttled.hpp"
#include "story.hpp"

namespace timeloom::profile {
namespace {

CallTree run(const std::string& script, std::uint64_t ticks_per_second = 1000) {
  Story story;
  story.thread("main", script);
  story.definitions().clock.ticks_per_second = ticks_per_second;
  return story.fold();
}

std::string text(const DiffSide& side) {
  if (!side.there) return "-";
  std::ostringstream out;
  out << side.visits << "/" << side.inclusive << "/" << side.exclusive;
  return out.str();
}

std::string regions(const Diff& diff) {
  std::string all;
  for (const DiffRegion& one : diff.regions) {
    all += one.name + " " + text(one.before) + " " + text(one.after) + "; ";
  }
  return all;
}

std::string nodes(const Diff& diff) {
  std::string all;
  for (const DiffNode& one : diff.nodes) {
    if (one.parent.defined()) all += diff.regions[diff.nodes[one.parent.value()].region].name + ">";
    all += diff.regions[one.region].name + " " + text(one.before) + " " + text(one.after) + "; ";
  }
  return all;
}

TEST(Diff, PutsRegionsAndCallPathsSideBySide) {
  const Diff diff = compare(run("main +1000 f +2000 ) )"),
                            run("main +500 f +3000 ) f +1000 ) g +100 f +7 ) ) )"));
  EXPECT_EQ(regions(diff), "main 1/3/1 1/4.607/0.5; f 1/2/2 3/4.007/4.007; g - 1/0.107/0.1; ");
  EXPECT_EQ(nodes(diff),
            "main 1/3/1 1/4.607/0.5; main>f 1/2/2 2/4/4; main>g - 1/0.107/0.1; "
            "g>f - 1/0.007/0.007; ");
  EXPECT_DOUBLE_EQ(diff.before.all, 3);
  EXPECT_DOUBLE_EQ(diff.after.all, 4.607);
  EXPECT_TRUE(diff.shared);
}

TEST(Diff, KeepsWhatIsGone) {
  const Diff diff = compare(run("main f +5 ) +1 )"), run("main +1 )"));
  EXPECT_EQ(nodes(diff), "main 1/0.006/0.001 1/0.001/0.001; main>f 1/0.005/0.005 -; ");
}

TEST(Diff, ComparesSecondsOfDifferentClocks) {
  const Diff diff = compare(run("f +3000 )"), run("f +3000000 )", 1'000'000));
  EXPECT_EQ(regions(diff), "f 1/3/3 1/3/3; ");
}

TEST(Diff, KnowsRegionsByNameAndFileWithoutDirectory) {
  CallTree before = run("f +1 )");
  CallTree after = run("f +2 )");
  after.definitions.regions[0].first_line = 77;
  after.definitions.regions[0].file = "/elsewhere/f.py";
  const Diff moved = compare(before, after);
  ASSERT_EQ(moved.regions.size(), 1u);
  EXPECT_EQ(moved.regions[0].line, 77u);
  after.definitions.regions[0].file = "/elsewhere/g.py";
  const Diff other = compare(before, after);
  EXPECT_EQ(other.regions.size(), 2u);
  EXPECT_FALSE(other.shared);
}

TEST(Diff, CountsTheTimeOfRegionsThatAreOneToItOnce) {
  CallTree tree = run("main a +2 b +5 a +1 ) ) ) )");
  Region& b = tree.definitions.regions[2];
  b.name = tree.definitions.regions[1].name;  // another lambda of the file
  b.file = tree.definitions.regions[1].file;
  EXPECT_EQ(regions(compare(tree, tree)),
            "main 1/0.008/0 1/0.008/0; a 3/0.008/0.008 3/0.008/0.008; ");
}

TEST(Diff, TakesDifferencesOfProfiles) {
  CallTree tree = run("main +3 f +2 ) )");
  for (Cell& cell : tree.locations[0].cells) {
    cell.statistics.visits = 0 - cell.statistics.visits;
    cell.statistics.inclusive = 0 - cell.statistics.inclusive;
  }
  const Diff diff = compare(run("main +1 f +2 ) )"), tree);
  EXPECT_EQ(regions(diff),
            "main 1/0.003/0.001 -1/-0.005/-0.003; f 1/0.002/0.002 -1/-0.002/-0.002; ");
  EXPECT_DOUBLE_EQ(diff.after.all, -0.005);
}

// A run whose functions a to f worked for so many milliseconds, in the whole `factor` times as
// long.
DiffRun worked(const CallTree& tree, const std::vector<double>& ms, double factor) {
  DiffRun run{&tree};
  for (const double one : ms) {
    run.working.push_back(one * factor / 1000);
    run.waiting.push_back(0.001);
  }
  return run;
}

TEST(Diff, OfSeveralRunsHasMediansWithoutTheFactorOfTheMachine) {
  const CallTree tree = run("a +1 ) b +1 ) c +1 ) d +1 ) e +1 ) f +1 )");
  const std::vector<DiffRun> before = {worked(tree, {100, 50, 40, 30, 20, 10}, 1),
                                       worked(tree, {104, 50, 40, 30, 20, 10}, 1.5),
                                       worked(tree, {96, 50, 40, 30, 20, 10}, 1)};
  const std::vector<DiffRun> after = {worked(tree, {100, 50, 40, 30, 60, 10}, 2),
                                      worked(tree, {100, 50, 40, 30, 64, 10}, 1)};
  const Diff diff = compare(before, after);
  EXPECT_TRUE(diff.measured);
  EXPECT_EQ(diff.before.runs, 3u);
  EXPECT_EQ(diff.before.factors, (std::vector<double>{1, 1.5, 1}));
  EXPECT_EQ(diff.after.factors, (std::vector<double>{2, 1}));
  EXPECT_DOUBLE_EQ(diff.before.working, 0.25);
  const DiffRegion& a = diff.regions[0];
  const DiffRegion& e = diff.regions[4];
  EXPECT_DOUBLE_EQ(a.before.working, 0.1);
  EXPECT_DOUBLE_EQ(a.before.working_range.least, 0.096);
  EXPECT_DOUBLE_EQ(a.before.working_range.most, 0.104);
  EXPECT_DOUBLE_EQ(e.before.working, 0.02);
  EXPECT_DOUBLE_EQ(e.after.working, 0.062);
  EXPECT_DOUBLE_EQ(e.after.waiting, 0.001);
}

TEST(Diff, OneRunOfEachSideHasItsWorkAsMeasured) {
  const CallTree tree = run("a +1 ) b +1 ) c +1 ) d +1 ) e +1 ) f +1 )");
  const std::vector<DiffRun> before = {worked(tree, {100, 50, 40, 30, 20, 10}, 1)};
  const std::vector<DiffRun> after = {worked(tree, {100, 50, 40, 30, 20, 10}, 2)};
  const Diff diff = compare(before, after);
  EXPECT_TRUE(diff.after.factors.empty());
  EXPECT_DOUBLE_EQ(diff.regions[0].after.working, 0.2);
  EXPECT_FALSE(compare(tree, tree).measured);
}

TEST(Diff, KnowsWhatWasNotTimedToTheEnd) {
  CallTree after = run("main f +5 ) g +1 ) )");
  after.definitions.properties[kThrottled] = throttled_text({&after.definitions.regions[1]});
  const Diff diff = compare(run("main f +5 ) g +1 ) )"), after);
  EXPECT_TRUE(diff.regions[1].after.at_least);
  EXPECT_FALSE(diff.regions[1].before.at_least || diff.regions[2].after.at_least);
  EXPECT_TRUE(diff.nodes[1].after.at_least);
  EXPECT_FALSE(diff.nodes[1].before.at_least || diff.nodes[2].after.at_least);
}

TEST(Diff, TakesEmptyRuns) {
  EXPECT_TRUE(compare(CallTree{}, CallTree{}).nodes.empty());
  EXPECT_FALSE(compare(run("f +1 )"), CallTree{}).shared);
}

}  // namespace
}  // namespace timeloom::profile
