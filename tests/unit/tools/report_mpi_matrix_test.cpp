// The matrix of messages in terminals of different widths.
#include "tools/report/mpi/report_mpi_matrix.hpp"

#include <gtest/gtest.h>

#include "tools/text/human_text.hpp"

namespace timeloom::tools {
namespace {

MpiFacts processes(std::uint32_t number) {
  MpiFacts facts;
  for (std::uint32_t i = 0; i < number; ++i) facts.processes.push_back(std::to_string(i));
  return facts;
}

using Lines = std::vector<std::string>;

std::string blanks(std::size_t number) { return std::string(number, ' '); }

TEST(ReportMpiMatrix, ATableAndTwoPicturesWhereThereIsRoom) {
  MpiFacts facts = processes(3);
  facts.messages.traffic[{0, 1}] = {4, 1000, 2000, 1'000'000};
  facts.messages.traffic[{2, 0}] = {1, 250, 3000, 3000};
  Terminal terminal;
  EXPECT_EQ(matrix_lines(facts, terminal),
            (Lines{"bytes sent (messages), time in their calls",
                   "              to        0        1        2",
                   "            0           -  1.00 kB        -",
                   "                               (4)         ",
                   "      sending               2.00us         ",
                   "    receiving               1.00ms         ",
                   "            1           -        -        -",
                   "            2       250 B        -        -",
                   "                      (1)                  ",
                   "      sending      3.00us                  ",
                   "    receiving      3.00us                  ", "     from, to  bytes    time",
                   "            0 |  ##  | |  ##  |", "            1 |      | |      |",
                   "            2 |..    | |..    |",
                   "               . 25%  : 50%  + 75%  # 100%  of 1.00 kB, 1.00ms"}));
}

TEST(ReportMpiMatrix, ShadesAreSharesOfTheMost) {
  MpiFacts facts = processes(5);
  std::uint64_t bytes = 0;
  for (const std::uint32_t to : {0U, 1U, 2U, 3U, 4U}) {
    facts.messages.traffic[{1, to}] = {1, bytes, 0, 0};
    bytes += 25;
  }
  facts.messages.traffic[{3, 3}] = {1, 76, 0, 0};
  Terminal terminal;
  terminal.unicode = true;
  const Lines lines = matrix_lines(facts, terminal);
  const std::size_t begin = lines.size() - 6;
  EXPECT_TRUE(lines[begin + 1].starts_with(
      "            1 \u2502  \u2591\u2591\u2592\u2592\u2593\u2593\u2588\u2588\u2502"));
  EXPECT_TRUE(lines[begin + 3].starts_with("            3 \u2502      \u2588\u2588  \u2502"));
  EXPECT_EQ(lines[begin], "            0 \u2502          \u2502 \u2502          \u2502");
}

// A halo exchange; no line is wider than the terminal.
TEST(ReportMpiMatrix, SixtyFourProcessesFitEightyColumns) {
  MpiFacts facts = processes(64);
  for (std::uint32_t from = 0; from < 63; ++from) {
    facts.messages.traffic[{from, from + 1}] = {1, 8, 10, 10};
    facts.messages.traffic[{from + 1, from}] = {1, 8, 10, 10};
  }
  const Lines lines = matrix_lines(facts, Terminal{});
  ASSERT_EQ(lines.size(), 1U + 10 + 1 + 64 + 1);
  EXPECT_EQ(lines[0], "    bytes messages sending receiving  from, to");
  EXPECT_EQ(lines[1], "      8 B        1  10.0ns    10.0ns  0, 1");
  EXPECT_EQ(lines[11], "     from, to  bytes");
  EXPECT_EQ(lines[12], "            0 | #" + blanks(62) + "|");
  EXPECT_EQ(lines[13], "            1 |# #" + blanks(61) + "|");
  EXPECT_EQ(lines[75], "           63 |" + blanks(62) + "# |");
  for (std::size_t i = 11; i < lines.size(); ++i) EXPECT_LE(lines[i].size(), 80U) << lines[i];
}

TEST(ReportMpiMatrix, NoLineIsWiderThanANarrowTerminal) {
  MpiFacts facts = processes(2);
  facts.messages.traffic[{0, 1}] = {1000, 1000, 10, 10};
  for (const std::size_t width : {40U, 50U, 60U}) {
    Terminal terminal;
    terminal.width = width;
    for (const std::string& line : matrix_lines(facts, terminal)) {
      EXPECT_LE(columns(line), width) << line;
    }
  }
}

TEST(ReportMpiMatrix, MoreProcessesThanColumnsShareSquares) {
  MpiFacts facts = processes(131);
  for (std::uint32_t worker = 1; worker < 131; ++worker) {
    facts.messages.traffic[{0, worker}] = {1, 0, 0, 0};
  }
  const Lines lines = matrix_lines(facts, Terminal{});
  ASSERT_EQ(lines.size(), 1U + 10 + 1 + 44 + 1);
  EXPECT_EQ(lines[11], "     from, to  messages of 3 processes a square");
  EXPECT_EQ(lines[12], "       0 to 2 |+" + std::string(42, '#') + "+|");
  EXPECT_EQ(lines[55], "   129 to 130 |" + blanks(44) + "|");
}

TEST(ReportMpiMatrix, NothingWithoutMessages) {
  EXPECT_EQ(matrix_lines(processes(4), Terminal{}), Lines{});
}

}  // namespace
}  // namespace timeloom::tools
