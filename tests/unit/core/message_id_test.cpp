#include "core/text/message_id.hpp"

#include <gtest/gtest.h>

namespace timeloom {
namespace {

TEST(MessageId, IsTakenOffTheEnd) {
  EXPECT_EQ(without_id("no run in work; name one [TL201]"), "no run in work; name one");
  EXPECT_EQ(without_id(" [TL201]"), "");
}

TEST(MessageId, NothingElseIsTakenOff) {
  for (const char* text : {"", "]", "[TL201]", "no run", "a [TL201] b", "a [TL2x1]", "a [TL2011]",
                           "a[TL201]", "a [XX201]", "a [TL201] "}) {
    EXPECT_EQ(without_id(text), text);
  }
}

}  // namespace
}  // namespace timeloom
