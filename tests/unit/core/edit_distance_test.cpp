#include "core/text/edit_distance.hpp"

#include <gtest/gtest.h>

#include <string>

namespace timeloom {
namespace {

TEST(EditDistance, CountsInsertedDeletedAndReplacedBytes) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("solve", ""), 5u);
  EXPECT_EQ(edit_distance("", "solve"), 5u);
  EXPECT_EQ(edit_distance("solve", "solves"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(EditDistance, CountsNeighboursThatAreSwappedOnce) {
  EXPECT_EQ(edit_distance("output", "ouptut"), 1u);
  EXPECT_EQ(edit_distance("ab", "ba"), 1u);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);  // a pair that was swapped is not changed again
}

TEST(EditDistance, OfLongWordsTakesLittleMemory) {
  const std::string million(1'000'000, 'x');
  EXPECT_EQ(edit_distance("name", million), 1'000'000u);
  EXPECT_EQ(edit_distance(million, "name"), 1'000'000u);
}

}  // namespace
}  // namespace timeloom
