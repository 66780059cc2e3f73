#include "tools/report/short_tree.hpp"

#include <gtest/gtest.h>

#include "core/run_properties.hpp"
#include "profile/story.hpp"
#include "tools/report/answer.hpp"

namespace timeloom::tools {
namespace {

using profile::CallTree;
using profile::Story;

// Regions whose names begin with "lib." belong to a library.
CallTree tree_of(const std::string& script) {
  Story story;
  story.thread("main", script);
  story.definitions().clock.ticks_per_second = 1000;
  for (Region& region : story.definitions().regions) {
    region.group = first_part(region.name);
    const bool library = region.group == "lib";
    region.file =
        (library ? "/usr/lib/python3/dist-packages/lib/" : "/home/me/") + region.group + ".py";
  }
  story.definitions().properties[kProgramDirectory] = "/home/me";
  return story.fold();
}

std::string rows_of(const std::string& script, std::size_t most = 10) {
  const CallTree tree = tree_of(script);
  const Answer answer(tree, {});
  std::string text;
  for (const ShortRow& row : answer.tree(most)) {
    text += std::string(row.depth, '>') + answer.region_name(row.region) + " " +
            std::to_string(static_cast<int>(row.total * 1000 + 0.5)) + " x" +
            std::to_string(row.visits);
    if (row.hidden > 0) text += " (" + std::to_string(row.hidden) + " " + row.hidden_package + ")";
    text += "\n";
  }
  return text;
}

TEST(ShortTree, HidesTheInsideOfALibrary) {
  EXPECT_EQ(rows_of("app.main +10 lib.run lib.a lib.b lib.work +90 ) ) ) ) )", 3),
            "app.main 100 x1\n"
            ">lib.run 90 x1 (2 lib)\n"
            ">>lib.work 90 x1\n");
}

TEST(ShortTree, ARecursionIsOneRow) {
  EXPECT_EQ(rows_of("app.f +10 app.f +20 app.f +30 app.g +40 ) ) ) )"),
            "app.f 100 x3\n"
            ">app.g 40 x1\n");
}

TEST(ShortTree, CallsOfOneFunctionBelowOneRowAreOne) {
  EXPECT_EQ(rows_of("app.main lib.a lib.c lib.hot +40 ) ) ) lib.b lib.d lib.hot +60 ) ) ) )", 2),
            "app.main 100 x1 (4 lib)\n"
            ">lib.hot 100 x2\n");
}

TEST(ShortTree, NothingIsLostOrCountedTwice) {
  const CallTree tree = tree_of(
      "app.main +7 lib.a +3 app.cb +5 lib.a +11 lib.b +13 ) ) ) lib.b +1 app.cb +2 ) ) ) +8 lib.c "
      "+50 ) )");
  const Answer answer(tree, {});
  for (std::size_t most = 1; most < 8; ++most) {
    double exclusive = 0;
    for (const ShortRow& row : answer.tree(most)) exclusive += row.exclusive;
    EXPECT_NEAR(exclusive, 0.1, 1e-9) << most;
  }
}

TEST(Answer, WaitingIsNoWorkAndHasItsCaller) {
  const CallTree tree = tree_of("app.main +40 lib.pool time.sleep +60 ) ) )");
  const Answer answer(tree, {});
  EXPECT_FALSE(answer.times().measured);
  EXPECT_NEAR(answer.times().all_working, 0.04, 1e-9);
  ASSERT_EQ(answer.waiting().size(), 1u);
  EXPECT_EQ(answer.region_name(answer.waiting()[0].region), "time.sleep");
  EXPECT_NEAR(answer.waiting()[0].waiting, 0.06, 1e-9);
}

}  // namespace
}  // namespace timeloom::tools
