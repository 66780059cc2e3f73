#include "profile/compensation.hpp"

#include <gtest/gtest.h>

#include "story.hpp"

namespace timeloom::profile {
namespace {

// `inside` and `outside` are in ticks.
std::string compensated(Story& story, double inside, double outside) {
  const CallTree tree = story.fold();
  const auto second = static_cast<double>(tree.definitions.clock.ticks_per_second);
  const std::vector<Totals> totals =
      compensate(tree, sum_locations(tree), {inside / second, outside / second});
  std::string text;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    text += name_of(tree, tree.nodes[i].region) + " " + std::to_string(totals[i].visits) + " " +
            std::to_string(totals[i].exclusive) + " " + std::to_string(totals[i].inclusive) + "\n";
  }
  return text;
}

TEST(Compensation, TakesTheInsideFromTheVisitAndTheOutsideFromTheCaller) {
  Story story;
  story.thread("main", "a +100 b +10 ) b +10 c +20 ) ) +100 )");
  EXPECT_EQ(compensated(story, 3, 4),
            "a 1 189 216\n"  // 200 minus 3 for itself and 2 times 4 for b; and the calls below
            "b 2 10 27\n"    // 20 minus 2 times 3, and minus 4 for c
            "c 1 17 17\n");
}

TEST(Compensation, LeavesNothingBelowZero) {
  Story story;
  story.thread("main", "a +1 b +1 ) b +2 ) +50 )");
  EXPECT_EQ(compensated(story, 5, 0), "a 1 46 46\nb 2 0 0\n");
  EXPECT_EQ(compensated(story, 0, 50), "a 1 0 3\nb 2 3 3\n");
}

TEST(Compensation, SumsThreads) {
  Story story;
  story.thread("main", "f +10 ) f +10 )").thread("worker", "f +30 )");
  EXPECT_EQ(compensated(story, 2, 9), "f 3 44 44\n");
}

}  // namespace
}  // namespace timeloom::profile
