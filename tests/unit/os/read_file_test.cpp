#include "os/read_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <thread>

#include "../support/temp_directory.hpp"

namespace timeloom::os {
namespace {

using Pieces = std::vector<std::string_view>;

// Longer than one read, and without repetitions.
std::string long_text() {
  std::string text;
  while (text.size() < 100'000) text += std::to_string(text.size()) + '\0';
  return text;
}

class ReadFileTest : public ::testing::Test {
 protected:
  std::string path_of(const char* name) { return directory_ / name; }
  void write(const char* name, const std::string& text) {
    std::ofstream(path_of(name), std::ios::binary) << text;
  }

  test::TempDirectory directory_;
  int error_ = -1;
};

TEST_F(ReadFileTest, ReadsAllBytes) {
  write("a", long_text());
  EXPECT_EQ(read_file(path_of("a")), long_text());
  write("empty", "");
  EXPECT_EQ(read_file(path_of("empty"), 5, &error_), "");
  EXPECT_EQ(error_, 0);
}

TEST_F(ReadFileTest, ReadsNoMoreThanAskedFor) {
  write("a", long_text());
  for (const std::size_t most : {0UL, 1UL, 16'384UL, 16'385UL, 99'999UL}) {
    EXPECT_EQ(read_file(path_of("a"), most, &error_), long_text().substr(0, most));
    EXPECT_EQ(error_, 0);
  }
  EXPECT_EQ(read_file("/dev/zero", 100'000, &error_), std::string(100'000, '\0'));
}

TEST_F(ReadFileTest, SaysWhyItCannot) {
  EXPECT_EQ(read_file(path_of("missing"), 5, &error_), "");
  EXPECT_EQ(error_, ENOENT);
  EXPECT_EQ(read_file(path_of("."), 5, &error_), "");
  EXPECT_EQ(error_, EISDIR);
  EXPECT_EQ(read_file(path_of("missing")), "");
}

// As the shell creates one for --filter <(command).
TEST_F(ReadFileTest, ReadsWhatComesThroughAFifo) {
  ASSERT_EQ(::mkfifo(path_of("fifo").c_str(), 0600), 0);
  std::thread writer([&] { write("fifo", long_text()); });
  EXPECT_EQ(read_file(path_of("fifo")), long_text());
  writer.join();
}

TEST(PiecesOf, AreBetweenSeparators) {
  EXPECT_EQ(pieces_of("", '\n'), Pieces());
  EXPECT_EQ(pieces_of("a", '\n'), Pieces({"a"}));
  EXPECT_EQ(pieces_of("a\nbc\n", '\n'), Pieces({"a", "bc"}));
  EXPECT_EQ(pieces_of("\n\na\n\n", '\n'), Pieces({"", "", "a", ""}));
}

}  // namespace
}  // namespace timeloom::os
