#include "profile/growing_calls.hpp"

#include <gtest/gtest.h>

namespace timeloom::profile {
namespace {

TEST(GrowingCalls, AreReadAsTheyWereWritten) {
  const std::vector<GrowingCalls> functions = {{8000, 60, 9'000'000, 2, "a.f (a.py:1)"},
                                               {300, 5, 50, 1, "b.g (b c.py:7)"}};
  const std::vector<GrowingCalls> read = growing_calls_of(growing_calls_text(functions));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].visits, 8000u);
  EXPECT_EQ(read[0].early, 60u);
  EXPECT_EQ(read[0].late, 9'000'000u);
  EXPECT_EQ(read[0].callers, 2u);
  EXPECT_EQ(read[0].entry, "a.f (a.py:1)");
  EXPECT_EQ(read[1].entry, "b.g (b c.py:7)");
}

TEST(GrowingCalls, ImpossibleEntriesAreLeftOut) {
  for (const char* text : {"", "x", "1 2", "1 2 3 4", "1 2 3 4 ", "0 1 2 1 f", "9 2 1 1 f",
                           "-1 1 2 1 f", "99999999999999999999 1 2 1 f", " | | "}) {
    EXPECT_TRUE(growing_calls_of(text).empty()) << text;
  }
  EXPECT_EQ(growing_calls_of("x | 9 1 2 1 f | 9 2 1 1 g").size(), 1u);
}

}  // namespace
}  // namespace timeloom::profile
