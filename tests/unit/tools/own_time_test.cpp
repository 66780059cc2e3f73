// The own time of a function and its parts are the same in each table.

#include <gtest/gtest.h>

#include "core/waiting_metric.hpp"
#include "profile/story.hpp"
#include "tools/report/answer.hpp"
#include "tools/report/report_function.hpp"
#include "tools/report/report_rows.hpp"

namespace timeloom::tools {
namespace {

// f works 3 s and waits 2 s on one thread; it works 1 s on another one, which is then killed.
profile::CallTree tree_of_two_threads() {
  profile::Story story;
  story.thread("one", "main f +5 ) +1 )").thread("two", "f +1 unmeasured +4 ) )");
  story.definitions().clock.ticks_per_second = 1;
  story.definitions().regions.back() = unmeasured_region();
  story.definitions().metrics = {waiting_metric()};
  profile::CallTree tree = story.fold();
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const bool f = tree.definitions.regions[tree.nodes[i].region.value()].name == "f";
    if (!f || !tree.nodes[i].parent.defined()) continue;
    tree.locations[0].samples.push_back({MetricId{0}, profile::NodeId{i}, 2'000'000'000});
  }
  return tree;
}

TEST(OwnTime, IsWorkingWaitingAndUnmeasuredInEachTable) {
  const profile::CallTree tree = tree_of_two_threads();
  const FunctionFacts facts = function_facts(tree, {}, find_function(tree.definitions, "f"));
  EXPECT_DOUBLE_EQ(facts.working, 4);
  EXPECT_DOUBLE_EQ(facts.waiting, 2);
  EXPECT_DOUBLE_EQ(facts.unmeasured, 4);
  EXPECT_DOUBLE_EQ(facts.exclusive, 10);
  const Answer answer(tree, {});
  EXPECT_DOUBLE_EQ(answer.functions().front().working, 4);
  EXPECT_DOUBLE_EQ(answer.waiting().front().waiting, 2);
  const ReportData data(tree, {});
  for (const bool flat : {true, false}) {
    double working = 0, waiting = 0, unmeasured = 0;
    for (const Row& row : (flat ? data.flat_rows({}) : data.tree_rows({})).rows) {
      if (data.region_name(row.region) != "f") continue;
      working += row.figures.working;
      waiting += row.figures.waiting;
      unmeasured += row.figures.unmeasured;
    }
    EXPECT_DOUBLE_EQ(working, 4) << flat;
    EXPECT_DOUBLE_EQ(waiting, 2) << flat;
    EXPECT_DOUBLE_EQ(unmeasured, 4) << flat;
  }
}

}  // namespace
}  // namespace timeloom::tools
