#include "core/text/shell_word.hpp"

#include <gtest/gtest.h>

namespace timeloom {
namespace {

TEST(ShellWord, IsQuotedWhereItHasTo) {
  for (const char* plain : {"a", "run-1", "/tmp/a_b.c", "x=1", "caf\xc3\xa9", "50%", "-n"}) {
    EXPECT_EQ(shell_word(plain), plain);
  }
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("a;b"), "'a;b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("~"), "'~'");
  EXPECT_EQ(shell_word("a\nb"), "'a\nb'");
}

}  // namespace
}  // namespace timeloom
