#include "profile/flat_profile.hpp"

#include <gtest/gtest.h>

#include "story.hpp"

namespace timeloom::profile {
namespace {

std::string flat(const CallTree& tree) {
  std::string text;
  for (const FlatRow& row : flat_profile(tree, sum_locations(tree))) {
    text += name_of(tree, row.region) + ", " + std::to_string(row.visit_time) + " in " +
            describe(row.totals);
  }
  return text;
}

TEST(FlatProfile, SumsARegionOverItsCallPaths) {
  EXPECT_EQ(flat(Story().thread("main", "a +1 c +2 ) ) b +1 c +4 ) )").fold()),
            "a, 3 in 1 visits, inclusive 3, exclusive 1, 3 to 3\n"
            "c, 6 in 2 visits, inclusive 6, exclusive 6, 2 to 4\n"
            "b, 5 in 1 visits, inclusive 5, exclusive 1, 5 to 5\n");
}

TEST(FlatProfile, CountsTheTimeOfRecursiveCallsOnce) {
  EXPECT_EQ(flat(Story().thread("main", "f +1 f +1 f +1 ) ) +1 )").fold()),
            "f, 7 in 3 visits, inclusive 4, exclusive 4, 1 to 4\n");
}

TEST(FlatProfile, CountsMutualRecursionOnceForEachRegion) {
  EXPECT_EQ(flat(Story().thread("main", "f +1 g +1 f +1 g +1 ) ) ) +1 ) g +3 f +1 ) )").fold()),
            "f, 8 in 3 visits, inclusive 6, exclusive 4, 1 to 5\n"
            "g, 8 in 3 visits, inclusive 7, exclusive 5, 1 to 4\n");
}

TEST(FlatProfile, CountsSiblingsAfterARecursiveCallFully) {
  EXPECT_EQ(flat(Story().thread("main", "m f +1 f +1 ) ) f +2 ) h f +4 ) ) )").fold()),
            "m, 8 in 1 visits, inclusive 8, exclusive 0, 8 to 8\n"
            "f, 9 in 4 visits, inclusive 8, exclusive 8, 1 to 4\n"
            "h, 4 in 1 visits, inclusive 4, exclusive 0, 4 to 4\n");
}

TEST(FlatProfile, LeavesOutRegionsThatWereNotVisited) {
  Story story;
  story.thread("main", "a +1 )").definitions().regions.push_back({});
  EXPECT_EQ(flat_profile(story.fold(), sum_locations(story.fold())).size(), 1u);
}

}  // namespace
}  // namespace timeloom::profile
