#include "tools/text/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "core/error.hpp"

namespace timeloom::tools {
namespace {

TEST(Output, WritesEverythingInOrder) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  Output output(ends[1]);
  output.write("one ");
  output.write("two");
  output.flush();
  std::array<char, 16> text{};
  EXPECT_EQ(read(ends[0], text.data(), text.size()), 7);
  EXPECT_STREQ(text.data(), "one two");
  EXPECT_FALSE(output.closed());
  close(ends[0]);
  close(ends[1]);
}

TEST(Output, AReaderThatLeavesIsNoError) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  Output output(ends[1]);
  output.write(std::string(1 << 20, 'x'));
  output.flush();
  EXPECT_TRUE(output.closed());
  output.write("more");
  output.flush();
  close(ends[1]);
}

TEST(Output, AFullDiskIsAnError) {
  const int full = open("/dev/full", O_WRONLY);
  Output output(full);
  output.write("text");
  EXPECT_THROW(output.flush(), Error);
  close(full);
}

}  // namespace
}  // namespace timeloom::tools
