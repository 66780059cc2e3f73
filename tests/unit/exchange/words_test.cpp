#include "exchange/cell_texts.hpp"

#include <gtest/gtest.h>

namespace timeloom::exchange {
namespace {

TEST(Words, HaveOnePlaceForATextInUtf8) {
  Words words;
  EXPECT_EQ(words.add("b"), 0u);
  EXPECT_EQ(words.add("a\xff"), 1u);
  EXPECT_EQ(words.add("a\xfe"), 1u);
  EXPECT_EQ(words.add(""), 2u);
  EXPECT_EQ(words.add("b"), 0u);
  ASSERT_EQ(words.all().size(), 3u);
  EXPECT_EQ(words[1], "a\xef\xbf\xbd");
  // The map refers to texts that never move.
  for (int i = 0; i < 10'000; ++i) words.add("word " + std::to_string(i));
  EXPECT_EQ(words.add("word 0"), 3u);
  EXPECT_EQ(words.add("word 9999"), 10'002u);
}

}  // namespace
}  // namespace timeloom::exchange
