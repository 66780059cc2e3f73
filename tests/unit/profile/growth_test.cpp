#include "profile/growth.hpp"

#include <gtest/gtest.h>

#include "core/waiting_metric.hpp"
#include "story.hpp"

namespace timeloom::profile {
namespace {

// `calls` calls of a function, of which number i takes `duration(i)` ticks.
template <typename Duration>
std::string calls_of(const std::string& name, int calls, Duration duration) {
  std::string script;
  for (int i = 1; i <= calls; ++i) {
    script += name + " +" + std::to_string(duration(i)) + " ) ";
  }
  return script;
}

std::vector<GrowingCalls> growing_in(const Story& story, std::size_t batch = 3) {
  const CallTree tree = story.fold({}, batch);
  const auto found = tree.definitions.properties.find(kGrowingCalls);
  if (found == tree.definitions.properties.end()) return {};
  return growing_calls_of(found->second);
}

constexpr auto kLinear = [](int i) { return 10 * i; };

TEST(Growth, CallsThatTakeLongerTheMoreThereWereAreFoundWithTheirCallers) {
  Story story;
  story.thread("main", "a +1 " + calls_of("f", 1000, kLinear) + ") b +1 " +
                           calls_of("f", 600, kLinear) + ")");
  for (const std::size_t batch : {1, 3, 100000}) {
    const std::vector<GrowingCalls> found = growing_in(story, batch);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].entry, "f (f.py:2)");
    EXPECT_EQ(found[0].visits, 1600u);
    EXPECT_EQ(found[0].callers, 2u);
    EXPECT_EQ(found[0].early, 85u);   // of the first 16
    EXPECT_EQ(found[0].late, 7565u);  // of numbers 513 to 1000
  }
}

TEST(Growth, ACallerWithAnUnevenStepCountsBesideASteadyOne) {
  constexpr auto kUneven = [](int i) { return 10 * i + (i > 128 && i <= 256 ? 1000 : 0); };
  const std::string steady = "a +1 " + calls_of("f", 1000, kLinear) + ") ";
  const std::string uneven = "b +1 " + calls_of("f", 600, kUneven) + ") ";
  Story both, alone;
  both.thread("main", steady + uneven);
  ASSERT_EQ(growing_in(both).size(), 1u);
  EXPECT_EQ(growing_in(both)[0].callers, 2u);
  alone.thread("main", uneven);
  EXPECT_TRUE(growing_in(alone).empty());
}

TEST(Growth, EqualFewAndSettledCallsDoNotGrow) {
  const std::string equal = calls_of("f", 2000, [](int) { return 10; });
  const std::string few = calls_of("g", 200, kLinear);
  const std::string settled = calls_of("h", 1000, [](int i) { return i <= 512 ? 10 * i : 100; });
  const std::string logarithmic =
      calls_of("k", 2000, [](int i) { return 100 + 10 * (31 - __builtin_clz(unsigned(i))); });
  Story story;
  story.thread("main", "main +1 " + equal + few + settled + logarithmic + ")");
  EXPECT_TRUE(growing_in(story).empty());
}

TEST(Growth, TheInnermostFunctionCounts) {
  std::string script = "main ";
  for (int i = 1; i <= 600; ++i) {
    script += "outer +1 inner +" + std::to_string(10 * i) + " ) ) ";
  }
  Story story;
  story.thread("main", script + ")");
  const std::vector<GrowingCalls> found = growing_in(story);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].entry, "inner (inner.py:3)");
}

TEST(Growth, ARecursiveFunctionIsLeftOut) {
  std::string script = "main ";
  for (int i = 1; i <= 600; ++i) {
    script += "f +" + std::to_string(10 * i) + " " + (i % 2 == 0 ? "f +1 ) " : "") + ") ";
  }
  Story story;
  story.thread("main", script + ")");
  EXPECT_TRUE(growing_in(story).empty());
}

TEST(Growth, WaitingInsideIsLeftOut) {
  Definitions definitions;
  definitions.regions.resize(2);
  definitions.metrics.push_back(waiting_metric());
  NodeBudget budget(100);
  LocationAggregator aggregator("main", definitions, {.own_nodes = 100}, budget, budget);
  std::vector<Event> events;
  std::uint64_t time = 1;
  const auto add = [&](EventKind kind, std::uint32_t ref, std::uint64_t value) {
    Event event;
    event.kind = kind;
    event.ref = ref;
    event.value = value;
    event.time = Timestamp{time};
    events.push_back(event);
  };
  for (std::uint64_t i = 1; i <= 600; ++i) {
    add(EventKind::kEnter, 0, 0);
    add(EventKind::kEnter, 1, 0);
    time += 10 + 1000 * i;
    add(EventKind::kWaiting, 0, 1000 * i);
    add(EventKind::kLeave, 1, 0);
    add(EventKind::kLeave, 0, 0);
  }
  aggregator.consume(events);
  const AggregatedLocation location = aggregator.finish();
  ASSERT_FALSE(location.milestones.empty());
  for (const auto& one : location.milestones) EXPECT_EQ(one.working, 10 * one.visits);
  Growth growth(definitions);
  growth.add(location);
  EXPECT_TRUE(growth.functions().empty());
}

}  // namespace
}  // namespace timeloom::profile
