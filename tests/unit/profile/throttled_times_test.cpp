#include "profile/samples/throttled_times.hpp"

#include <gtest/gtest.h>

#include "core/samples/estimated_time.hpp"
#include "story.hpp"

namespace timeloom::profile {
namespace {

RegionId region_of(const CallTree& tree, const std::string& name) {
  for (std::uint32_t i = 0; i < tree.definitions.regions.size(); ++i) {
    if (name_of(tree, RegionId{i}) == name) return RegionId{i};
  }
  return {};
}

// Samples of the first location; the words are names of regions.
EstimatedPath path(const CallTree& tree, const std::vector<std::string>& recorded,
                   const std::vector<std::string>& throttled,
                   const std::vector<double>& nanoseconds,
                   const std::vector<std::string>& around = {}) {
  EstimatedPath path;
  path.location = tree.definitions.locations.front().id;
  for (const std::string& name : recorded) path.recorded.push_back(region_of(tree, name));
  for (const std::string& name : throttled) path.throttled.push_back(region_of(tree, name));
  for (const std::string& name : around) path.around.push_back(region_of(tree, name));
  for (const double one : nanoseconds) path.time.add_value(one);
  return path;
}

// Ticks are nanoseconds.
CallTree tree_of(const std::string& events) {
  Story story;
  story.thread("main", events);
  CallTree tree = story.fold();
  tree.definitions.clock.ticks_per_second = 1'000'000'000;
  return tree;
}

// Each node by its level, with its visits, own time and time, and the values of the metrics.
std::string text_of(const CallTree& tree) {
  const std::vector<Totals> totals = sum_locations(tree);
  std::string text;
  for (std::uint32_t i = 0; i < totals.size(); ++i) {
    text += std::string(tree.nodes[i].depth, ' ') + name_of(tree, tree.nodes[i].region) + " " +
            std::to_string(totals[i].visits) + " " + std::to_string(totals[i].exclusive) + " " +
            std::to_string(totals[i].inclusive);
    for (const MetricCell& cell : tree.locations.front().metrics) {
      if (cell.node != NodeId{i}) continue;
      const std::string& name = tree.definitions.metrics[cell.metric.value()].name;
      text += name == kEstimatedTime ? " is" : name == kEstimatedBelow ? " below" : " gives";
      text += " " + std::to_string(cell.statistics.count) + " " +
              std::to_string(static_cast<long>(cell.statistics.sum)) + " " +
              std::to_string(static_cast<long>(cell.statistics.squares));
    }
    text += "\n";
  }
  return text;
}

constexpr char kHot[] = "a +10 hot +1 ) b +50 hot +2 ) ) +100 )";

TEST(Estimates, LieBelowTheFunctionThatWasRecorded) {
  CallTree tree = tree_of(kHot);
  add_estimates(tree, {path(tree, {"a"}, {"hot"}, {10, 20}), path(tree, {"a", "b"}, {"hot"}, {5})});
  EXPECT_EQ(text_of(tree),
            "a 1 80 163 gives 2 30 500\n"
            " hot 1 31 31 is 2 30 500\n"
            " b 1 45 52 gives 1 5 25\n"
            "  hot 1 7 7 is 1 5 25\n");
}

TEST(Estimates, MakeCallPathsThatWereNeverVisited) {
  CallTree tree = tree_of("a +10 hot +1 ) deep +1 ) b +50 ) )");
  add_estimates(tree, {path(tree, {"a", "b"}, {"hot", "deep"}, {4, 6}),
                       path(tree, {"a", "b"}, {"hot"}, {3})});
  EXPECT_EQ(text_of(tree),
            "a 1 10 62\n"
            " hot 1 1 1\n"
            " deep 1 1 1\n"
            " b 1 37 50 gives 3 13 61\n"
            "  hot 0 3 13 is 1 3 9\n"
            "   deep 0 10 10 is 2 10 52\n");
}

TEST(Estimates, AreNeverMoreThanTheOwnTime) {
  CallTree tree = tree_of("a +20 hot +1 ) )");
  add_estimates(tree, {path(tree, {"a"}, {"hot"}, {30, 10})});
  EXPECT_EQ(text_of(tree),
            "a 1 0 21 gives 2 20 250\n"
            " hot 1 21 21 is 2 20 250\n");
}

TEST(Estimates, CountTheTimeOfRecordedCalleesOncePerFunction) {
  CallTree tree = tree_of("a +20 hot +1 ) slow +30 ) )");
  add_estimates(tree, {path(tree, {"a", "slow"}, {}, {7}, {"hot"}),
                       path(tree, {"a", "slow"}, {"hot"}, {8}, {"hot"})});
  EXPECT_EQ(text_of(tree),
            "a 1 20 51\n"
            " hot 1 1 1 below 1 7 49\n"
            " slow 1 22 30 gives 1 8 64\n"
            "  hot 0 8 8 is 1 8 64\n");
}

TEST(Estimates, CountTimeOnceForAFunctionThatIsRecordedInsideItself) {
  CallTree tree = tree_of("a +20 hot +9 ) )");
  add_estimates(tree, {path(tree, {"a", "hot"}, {}, {7}, {"hot"})});
  EXPECT_EQ(text_of(tree),
            "a 1 20 29\n"
            " hot 1 9 9\n");
}

TEST(Estimates, BeginTheThreadWhereNoRecordedFunctionWasOpen) {
  CallTree tree = tree_of("a +20 hot +9 ) )");
  add_estimates(tree, {path(tree, {}, {"hot"}, {7}), path(tree, {}, {"a", "hot"}, {5})});
  EXPECT_EQ(text_of(tree),
            "a 1 20 34\n"
            " hot 1 14 14 is 1 5 25\n"
            "hot 0 7 7 is 1 7 49\n");
  EXPECT_EQ(estimated_nodes(tree), (std::vector<bool>{true, true, true}));
}

TEST(Estimates, OfAFunctionThatAlsoCallsOthersHaveNoTimeOfTheseTwice) {
  CallTree tree = tree_of("a +20 g ) f +30 ) )");
  add_estimates(tree, {path(tree, {"a"}, {"f", "g"}, {4}), path(tree, {"a", "f"}, {"g"}, {6})});
  EXPECT_EQ(text_of(tree),
            "a 1 16 50 gives 1 4 16\n"
            " g 1 0 0\n"
            " f 1 24 34 gives 1 6 36\n"
            "  g 0 10 10 is 2 10 52\n");
}

TEST(Estimates, AreInTheTotalsOfThoseFunctionsAloneThatGotTime) {
  CallTree tree = tree_of("a +10 b +20 hot +9 ) ) )");
  add_estimates(tree,
                {path(tree, {"a", "b"}, {"hot"}, {7}), path(tree, {"a", "b", "hot"}, {"b"}, {3})});
  EXPECT_EQ(text_of(tree),
            "a 1 10 39\n"
            " b 1 13 29 gives 1 7 49\n"
            "  hot 1 13 16 is 1 7 49 gives 1 3 9\n"
            "   b 0 3 3 is 1 3 9\n");
  EXPECT_EQ(estimated_nodes(tree), (std::vector<bool>{false, false, true, true}));
}

TEST(Estimates, ChooseTheCallPathWhoseCallersAreThoseOfTheSamples) {
  CallTree tree = tree_of("a x +40 ) ) b x +50 ) +1 hot +1 ) )");
  add_estimates(tree, {path(tree, {"a", "x"}, {"hot"}, {4})});
  EXPECT_EQ(text_of(tree),
            "a 1 0 40\n"
            " x 1 36 40 gives 1 4 16\n"
            "  hot 0 4 4 is 1 4 16\n"
            "b 1 1 52\n"
            " x 1 50 50\n"
            " hot 1 1 1\n");
}

TEST(Estimates, OfUnknownFunctionsCountForNothing) {
  CallTree tree = tree_of("a +20 )");
  const std::string before = text_of(tree);
  EstimatedPath unknown = path(tree, {"a"}, {"a"}, {4});
  unknown.recorded = {RegionId{77}};
  EstimatedPath elsewhere = path(tree, {"a"}, {"a"}, {4});
  elsewhere.location = LocationId{99};
  add_estimates(tree, {unknown, elsewhere});
  EXPECT_EQ(text_of(tree), before);
}

TEST(Estimates, NeverComeToMoreThanTheTimeOfTheirCaller) {
  CallTree tree = tree_of("a +3 hot +1 ) warm +1 ) )");
  add_estimates(tree, {path(tree, {"a"}, {"hot"}, {5}), path(tree, {"a"}, {"warm"}, {5})});
  for (const Totals& one : sum_locations(tree)) {
    EXPECT_LE(one.exclusive, one.inclusive);
    EXPECT_LE(one.inclusive, 5u);
  }
}

TEST(Estimates, AStackIsDividedIntoItsParts) {
  const auto region = [](std::uint32_t id) { return RegionId{id}; };
  const std::vector<SampledFrame> stack = {{region(1)},       {region(2), true}, {region(3)},
                                           {region(4), true}, {region(2), true}, {RegionId{}, true},
                                           {region(4), true}};
  const EstimatedPath path = estimated_path(stack);
  EXPECT_EQ(path.recorded, (std::vector<RegionId>{region(1), region(3)}));
  EXPECT_EQ(path.around, std::vector<RegionId>{region(2)});
  EXPECT_EQ(path.throttled, (std::vector<RegionId>{region(2), region(4)}));
  EXPECT_EQ(path.time.count, 0u);
}

}  // namespace
}  // namespace timeloom::profile
