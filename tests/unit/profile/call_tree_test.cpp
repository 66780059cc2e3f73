#include "profile/call_tree.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/metric_unit.hpp"
#include "core/run_properties.hpp"
#include "story.hpp"

namespace timeloom::profile {
namespace {

std::string error_of(const Story& story) {
  try {
    story.fold();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CallTree, SumsTheVisitsOfACallPath) {
  const CallTree tree = Story().thread("main", "main +1 f +2 ) +3 f +7 ) +1 )").fold();
  EXPECT_EQ(describe(tree),
            "main: 1 visits, inclusive 14, exclusive 5, 14 to 14\n"
            "  f: 2 visits, inclusive 9, exclusive 9, 2 to 7\n");
  EXPECT_EQ(total_time(tree, sum_locations(tree)), 14u);
}

TEST(CallTree, TellsCallPathsApartAndKeepsTheirOrder) {
  const CallTree tree =
      Story().thread("main", "a +1 c +2 ) ) b +1 c +4 d +1 ) ) ) a +1 c +1 ) e ) ) a )").fold();
  EXPECT_EQ(describe(tree),
            "a: 3 visits, inclusive 5, exclusive 2, 0 to 3\n"
            "  c: 2 visits, inclusive 3, exclusive 3, 1 to 2\n"
            "  e: 1 visits, inclusive 0, exclusive 0, 0 to 0\n"
            "b: 1 visits, inclusive 6, exclusive 1, 6 to 6\n"
            "  c: 1 visits, inclusive 5, exclusive 4, 5 to 5\n"
            "    d: 1 visits, inclusive 1, exclusive 1, 1 to 1\n");
}

TEST(CallTree, RecursionMakesOneCallPathALevel) {
  const CallTree tree = Story().thread("main", "f +1 f +1 f +1 ) +1 f +5 ) ) +1 )").fold();
  EXPECT_EQ(describe(tree),
            "f: 1 visits, inclusive 10, exclusive 2, 10 to 10\n"
            "  f: 1 visits, inclusive 8, exclusive 2, 8 to 8\n"
            "    f: 2 visits, inclusive 6, exclusive 6, 1 to 5\n");
}

TEST(CallTree, MergesLocationsByCallPathAndKeepsThemApart) {
  const CallTree tree = Story()
                            .thread("one", "x +1 y +1 ) )")
                            .thread("two", "z +1 ) x +5 y +2 ) w +1 ) )", 1)
                            .thread("idle", "")
                            .fold();
  EXPECT_EQ(describe(tree),
            "x: 2 visits, inclusive 10, exclusive 6, 2 to 8\n"
            "  y: 2 visits, inclusive 3, exclusive 3, 1 to 2\n"
            "  w: 1 visits, inclusive 1, exclusive 1, 1 to 1\n"
            "z: 1 visits, inclusive 1, exclusive 1, 1 to 1\n");
  const auto in_group_0 = [](const Location& one) { return one.group == LocationGroupId{0}; };
  EXPECT_EQ(describe(tree, in_group_0),
            "x: 1 visits, inclusive 2, exclusive 1, 2 to 2\n"
            "  y: 1 visits, inclusive 1, exclusive 1, 1 to 1\n");
  ASSERT_EQ(tree.locations.size(), 3u);
  EXPECT_EQ(tree.locations[1].first, Timestamp{100});
  EXPECT_EQ(tree.locations[1].last, Timestamp{109});
  EXPECT_EQ(tree.definitions.locations[1].event_count, 8u);
  EXPECT_TRUE(tree.locations[2].cells.empty());
}

TEST(CallTree, TimePassesOnWhileRecordingIsOff) {
  const CallTree tree = Story().thread("main", "f +1 off +10 on +1 g +1 ) )").fold();
  EXPECT_EQ(describe(tree),
            "f: 1 visits, inclusive 13, exclusive 12, 13 to 13\n"
            "  g: 1 visits, inclusive 1, exclusive 1, 1 to 1\n");
}

TEST(CallTree, IsTheSameForEverySizeOfBatch) {
  Story story;
  story.thread("main", "a +1 b +1 ) +2 c +1 b +4 ) ) ) a b ) )");
  const std::string expected = describe(story.fold({}, 1));
  for (const std::size_t batch : {2, 5, 100}) EXPECT_EQ(describe(story.fold({}, batch)), expected);
}

TEST(CallTree, WidensTheTimeOfTheRunToItsEventsAndMarkers) {
  Story story;
  story.thread("one", "+7 a +5 )").thread("two", "a +20 )").thread("idle", "");
  ClockProperties& clock = story.definitions().clock;
  const auto is = [&](std::uint64_t begin, std::uint64_t length, std::uint64_t realtime) {
    const ClockProperties aggregated = story.fold().definitions.clock;
    EXPECT_EQ(aggregated.begin, begin);
    EXPECT_EQ(aggregated.length, length);
    EXPECT_EQ(aggregated.realtime.value_or(0), realtime);
  };
  is(100, 20, 0);
  clock = {1'000'000'000, 50, 1000, 7000};
  is(50, 1000, 7000);
  clock = {1'000'000'000, 110, 5, 7000};
  is(100, 20, 6990);
  story.definitions().markers.push_back({Timestamp{90}, LocationId{0}, "early"});
  is(90, 30, 6980);
}

TEST(CallTree, FoldsVeryDeepRecursion) {
  std::string script;
  for (int i = 0; i < 100'000; ++i) script += "f +1 ";
  for (int i = 0; i < 100'000; ++i) script += ") ";
  const CallTree tree = Story().thread("main", script).fold();
  ASSERT_EQ(tree.nodes.size(), 100'000u);
  EXPECT_EQ(tree.nodes.back().depth, 99'999u);
  EXPECT_EQ(sum_locations(tree)[0].inclusive, 100'000u);
  EXPECT_EQ(sum_locations(tree)[0].exclusive, 1u);
}

TEST(CallTree, CountsWhatIsBeyondTheLimitByFunctionBelowItsCaller) {
  Story story;
  story.thread("main", "a +1 b +1 ) +1 c +1 d +2 c +1 ) ) ) +1 e +4 ) +1 b +1 ) )");
  EXPECT_EQ(describe(story.fold({2, 0})),
            "a: 1 visits, inclusive 14, exclusive 4, 14 to 14\n"
            "  b: 2 visits, inclusive 2, exclusive 2, 1 to 1\n"
            "  (rest): 0 visits, inclusive 8, exclusive 0\n"
            "    c: 2 visits, inclusive 2, exclusive 2, 1 to 1\n"
            "    d: 1 visits, inclusive 2, exclusive 2, 2 to 2\n"
            "    e: 1 visits, inclusive 4, exclusive 4, 4 to 4\n");
  EXPECT_EQ(describe(story.fold({2, 0, 1})),
            "a: 1 visits, inclusive 14, exclusive 4, 14 to 14\n"
            "  b: 2 visits, inclusive 2, exclusive 2, 1 to 1\n"
            "  (rest): 2 visits, inclusive 8, exclusive 6, 4 to 4\n"
            "    c: 2 visits, inclusive 2, exclusive 2, 1 to 1\n");
}

TEST(CallTree, CountsValuesBeyondTheLimitWhereTheFunctionCounts) {
  const CallTree tree = Story().thread("main", "a b +1 n#4 c n#2 ) n#1 ) )").fold({1, 0});
  ASSERT_EQ(tree.locations[0].metrics.size(), 2u);
  const auto& [b, c] = std::tie(tree.locations[0].metrics[0], tree.locations[0].metrics[1]);
  EXPECT_EQ(tree.nodes[b.node.value()].region, RegionId{1});
  EXPECT_EQ(b.statistics.sum, 5);
  EXPECT_EQ(tree.nodes[c.node.value()].region, RegionId{2});
  EXPECT_EQ(c.statistics.sum, 2);
}

TEST(CallTree, CountsWhatIsDeeperThanTheLimitInOneNodeBelowItsCaller) {
  CallTreeOptions options;
  options.max_depth = 2;
  const Story story = Story()
                          .thread("main", "a +1 b +1 c +1 d +2 ) ) +1 e +4 ) ) +1 b +1 ) )")
                          .thread("2", "a +3 )");
  CallTree tree = story.fold(options);
  EXPECT_EQ(describe(tree),
            "a: 2 visits, inclusive 15, exclusive 5, 3 to 12\n"
            "  b: 2 visits, inclusive 10, exclusive 3, 1 to 9\n"
            "    (rest): 3 visits, inclusive 7, exclusive 7, 3 to 4\n");
  EXPECT_EQ(tree.definitions.properties.at(kReachedDepth), "4");
  // The run's own properties take precedence.
  Story other = story;
  other.definitions().properties[kProfileDepth] = "4";
  tree = other.fold(options);
  EXPECT_EQ(tree.nodes.size(), 5u);
  EXPECT_FALSE(tree.definitions.properties.contains(kReachedDepth));
}

TEST(CallTree, CountsVeryDeepRecursionUpToTheLimit) {
  std::string script;
  for (int i = 0; i < 10'000; ++i) script += "f +1 ";
  for (int i = 0; i < 10'000; ++i) script += ") ";
  CallTreeOptions options;
  options.max_depth = 100;
  const CallTree tree = Story().thread("main", script).fold(options);
  ASSERT_EQ(tree.nodes.size(), 101u);
  EXPECT_EQ(sum_locations(tree).back().visits, 9'900u);
  EXPECT_EQ(sum_locations(tree).back().inclusive, 9'900u);
  EXPECT_EQ(tree.definitions.properties.at(kReachedDepth), "10000");
}

TEST(CallTree, ParametersTellCallPathsApart) {
  const CallTree tree =
      Story()
          .thread("main",
                  "f n=1 +1 g +2 ) ) f n=2 who:me +4 g +1 ) ) f n=1 +1 ) f +9 ) f n=3 n=1 +2 )")
          .thread("other", "f n=1 +5 )")
          .fold();
  EXPECT_EQ(describe(tree),
            "f: 1 visits, inclusive 9, exclusive 9, 9 to 9\n"
            "f{n=1}: 4 visits, inclusive 11, exclusive 9, 1 to 5\n"
            "  g: 1 visits, inclusive 2, exclusive 2, 2 to 2\n"
            "f{n=2, who=me}: 1 visits, inclusive 5, exclusive 4, 5 to 5\n"
            "  g: 1 visits, inclusive 1, exclusive 1, 1 to 1\n");
  const ParameterSet& set = tree.parameter_sets.at(2);
  EXPECT_EQ(set, (ParameterSet{{"n", "2", true}, {"who", "me", false}}));
}

TEST(CallTree, AParameterThatComesLateLeavesTheTimeBeforeWhereItWas) {
  const std::string script = "f +1 g +2 ) n=1 n=1 +4 g +8 ) n=2 rss#1 m=3 +16 )";
  for (const std::size_t batch : {1, 2, 3, 5, 100}) {
    EXPECT_EQ(describe(Story().thread("main", script).fold({}, batch)),
              "f: 0 visits, inclusive 3, exclusive 1\n"
              "  g: 1 visits, inclusive 2, exclusive 2, 2 to 2\n"
              "f{n=1}: 0 visits, inclusive 12, exclusive 4\n"
              "  g: 1 visits, inclusive 8, exclusive 8, 8 to 8\n"
              "f{n=2, m=3}: 1 visits, inclusive 16, exclusive 16, 16 to 16\n");
  }
}

TEST(CallTree, CountersHaveValuesInCallPaths) {
  const CallTree tree = Story()
                            .thread("main", "rss#9 a rss#4 b rss#1 ) rss#-2 size#7 )")
                            .thread("other", "a +1 size#8 )")
                            .fold();
  ASSERT_EQ(tree.definitions.metrics.size(), 2u);
  const std::vector<MetricCell> expected = {{MetricId{0}, NodeId{0}, {2, 2, -2, 4, 20}},
                                            {MetricId{0}, NodeId{1}, {1, 1, 1, 1, 1}},
                                            {MetricId{1}, NodeId{0}, {1, 7, 7, 7, 49}}};
  EXPECT_EQ(tree.locations[0].metrics, expected);
  EXPECT_EQ(tree.locations[1].metrics,
            (std::vector<MetricCell>{{MetricId{1}, NodeId{0}, {1, 8, 8, 8, 64}}}));
}

TEST(CallTree, SampledMetricsBelongToWhatWasInnermost) {
  Story story;
  story.thread("main",
               "cpu#10 top#3 a cpu#14 top#9 b cpu#15 ) cpu#25 top#4 ) cpu#30 a cpu#31 top#2 )");
  for (Metric& metric : story.definitions().metrics) {
    metric.type = MetricValueType::kUint64;
    metric.set = "thread:";
  }
  story.definitions().metrics[0].mode = MetricMode::kAccumulatedStart;
  story.definitions().metrics[0].exponent = -6;
  story.definitions().metrics[0].unit = "s";
  const std::vector<SampleCell> expected = {{MetricId{0}, NodeId{0}, 15},
                                            {MetricId{0}, NodeId{1}, 1},
                                            {MetricId{0}, NodeId{}, 5},
                                            {MetricId{1}, NodeId{0}, 9},
                                            {MetricId{1}, NodeId{}, 3}};
  for (const std::size_t batch : {1, 2, 3, 100}) {
    const CallTree tree = story.fold({}, batch);
    EXPECT_EQ(tree.locations[0].samples, expected);
    EXPECT_TRUE(tree.locations[0].metrics.empty());
    EXPECT_EQ(value_unit(tree.definitions.metrics[0]), "10^-6 s");
    EXPECT_EQ(tree.definitions.metrics[0].exponent, -6);
  }
}

// A location continues with a profile when there is no more room for its events.
TEST(CallTree, AProfileGoesOnWhereEventsEnd) {
  Story story;
  story.thread("main", "a +1 b +2 ) b +4 ) )");  // open at 107, and left there
  CallTreeSink sink;
  sink.begin(story.definitions());
  AggregatedLocation rest;
  rest.first = Timestamp{107};
  rest.last = Timestamp{120};
  rest.events = 4;
  rest.nodes = {{},
                {{0, 13, UINT64_MAX, 0}, 0, 0, 0},
                {{0, 5, UINT64_MAX, 0}, 1, 1, 0},
                {{2, 6, 1, 5}, 1, 1, 0}};
  rest.parts = {{1, 13}, {2, 5}};
  sink.put(LocationId{0}, std::move(rest));
  story.replay(sink);
  const CallTree tree = sink.take();
  EXPECT_EQ(describe(tree),
            "a: 1 visits, inclusive 20, exclusive 3, 20 to 20\n"
            "  b: 4 visits, inclusive 17, exclusive 17, 1 to 9\n");
  EXPECT_EQ(tree.locations[0].first, Timestamp{100});
  EXPECT_EQ(tree.locations[0].last, Timestamp{120});
  EXPECT_EQ(tree.definitions.locations[0].event_count, 10u);
}

TEST(CallTree, SharesTheLimitAmongLocationsButLeavesEachItsOwn) {
  Story story;
  for (const char* name : {"1", "2", "3"}) story.thread(name, "a +1 b +1 ) +1 c +1 ) +1 d +1 ) )");
  const CallTree tree = story.fold({3, 1, 0});
  std::size_t cells = 0;
  std::vector<std::size_t> rests;
  for (const LocationProfile& location : tree.locations) {
    cells += location.cells.size();
    EXPECT_EQ(location.cells.front().statistics.inclusive, 6u);
    for (const Cell& cell : location.cells) {
      if (!tree.nodes[cell.node.value()].region.defined()) rests.push_back(cell.statistics.visits);
    }
  }
  // a, b, c, d of the first; a, the limit's node and in it b of the others.
  EXPECT_EQ(cells, 10u);
  EXPECT_EQ(rests, (std::vector<std::size_t>{2, 2}));
}

TEST(CallTree, RefusesEventsThatDoNotBalance) {
  EXPECT_EQ(error_of(Story().thread("t", "a +1 ) !0")),
            "damaged trace: location 't' leaves region 0 without an enter [TL322]");
  EXPECT_EQ(error_of(Story().thread("t", "a b +1 !0")),
            "damaged trace: location 't' leaves region 0 while it is in region 1 [TL322]");
  EXPECT_EQ(error_of(Story().thread("t", "a b )")),
            "damaged trace: location 't' ends inside region 0 [TL322]");
  Story unknown;
  unknown.thread("t", "a b ) )").definitions().regions.pop_back();
  EXPECT_EQ(error_of(unknown),
            "damaged trace: location 't' enters region 1, which is undefined [TL322]");
}

TEST(CallTree, RefusesTimeThatRunsBackwards) {
  Story story;
  story.thread("t", "a +1 +18446744073709551610 )");
  EXPECT_EQ(error_of(story),
            "damaged trace: location 't' leaves region 0 before it enters it [TL322]");
}

}  // namespace
}  // namespace timeloom::profile
