#include "core/text/count_text.hpp"

#include <gtest/gtest.h>

#include <array>

#include "core/text/joined.hpp"

namespace timeloom {
namespace {

TEST(CountText, NumbersAreGroupedAndNounsFollowThem) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
  EXPECT_EQ(plural(1, "process"), "1 process");
  EXPECT_EQ(plural(0, "call"), "0 calls");
  EXPECT_EQ(plural(2000, "process"), "2,000 processes");
}

TEST(CountText, SizesHaveThreeDigits) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(999), "999 B");
  EXPECT_EQ(size_text(1000), "1.00 kB");
  EXPECT_EQ(size_text(999'499), "999 kB");
  EXPECT_EQ(size_text(999'500), "1.00 MB");
  EXPECT_EQ(size_text(UINT64_MAX), "18.4 EB");
  EXPECT_EQ(three_digits(9.994), "9.99");
  EXPECT_EQ(three_digits(9.995), "10.0");
  EXPECT_EQ(three_digits(99.95), "100");
}

TEST(CountText, TimesHaveAUnit) {
  EXPECT_EQ(seconds_in("500ms"), 0.5);
  EXPECT_EQ(seconds_in("2.5s"), 2.5);
  EXPECT_EQ(seconds_in("3min"), 180);
  EXPECT_EQ(seconds_in("250us"), 250e-6);
  for (const char* wrong : {"", "s", "5", "5 s", "5h", "-1s", "nans", "1e999s"}) {
    EXPECT_FALSE(seconds_in(wrong)) << wrong;
  }
}

TEST(Joined, HasSomethingBetweenWords) {
  const std::array<std::string_view, 3> words = {"a", "", "c"};
  EXPECT_EQ(joined(words), "a, , c");
  EXPECT_EQ(joined(words, ":"), "a::c");
  const auto size = [](std::string_view word) { return std::to_string(word.size()); };
  EXPECT_EQ(joined(words, " ", size), "1 0 1");
  EXPECT_EQ(joined(std::array<std::string_view, 0>()), "");
}

}  // namespace
}  // namespace timeloom
