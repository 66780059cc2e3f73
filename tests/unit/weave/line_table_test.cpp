// The table of the source lines of a code object.
#include "python/interpreter/line_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace timeloom::python {
namespace {

using Table = std::vector<unsigned char>;

// The first byte of an entry.
unsigned char entry(unsigned kind, unsigned instructions) {
  return static_cast<unsigned char>(128 | kind << 3 | (instructions - 1));
}

// The lines of the first instructions.
std::vector<std::uint32_t> lines_in(const Table& table, std::uint32_t first, std::size_t count) {
  std::vector<std::uint32_t> lines;
  for (std::size_t i = 0; i < count; ++i) lines.push_back(line_of_instruction(table, first, i));
  return lines;
}

// Of a function with a comprehension, calls over several lines, handlers and a finally clause, as
// CPython 3.13 compiles it; its co_lines() gives the lines below.
const Table kCompiled = {
    0x80, 0x0,  0xe1, 0x12, 0x13, 0xf3, 0x3,  0x1,  0x9,  0x15, 0xd9, 0x12, 0x13, 0x88, 0x51, 0xf3,
    0x3,  0x0,  0xa,  0xb,  0xd9, 0x12, 0x13, 0xf0, 0x3,  0x0,  0x5,  0x6,  0xf0, 0x0,  0x1,  0x9,
    0x15, 0xf0, 0x4,  0x7,  0x5,  0xf,  0xdc, 0xf,  0x10, 0x90, 0x11, 0xdc, 0x11, 0x12, 0x90, 0x31,
    0xd8, 0x13, 0x14, 0xf3, 0x3,  0x1,  0x12, 0x16, 0xf3, 0x3,  0x2,  0x10, 0x17, 0xf4, 0xc,  0x0,
    0x9,  0xd,  0x8d, 0x6,  0xf9, 0xf2, 0x13, 0x1,  0x9,  0x15, 0xf8, 0xf4, 0xc,  0x0,  0xc,  0x16,
    0xf3, 0x0,  0x1,  0x5,  0x22, 0xdc, 0xe,  0x16, 0x98, 0x45, 0xd0, 0x8,  0x21, 0xfb, 0xf0, 0x3,
    0x1,  0x5,  0x22, 0xfb, 0xf4, 0x6,  0x0,  0x9,  0xd,  0x8d, 0x6,  0xfa,
};
const std::vector<std::uint32_t> kLinesOfCompiled = {
    1,  3,  3,  2, 2, 2, 2, 3, 3, 3, 2,  2,  2,  2,  3,  3,  2,  2,  4,  5,  5,  5,  5,  5,
    5,  6,  6,  6, 6, 6, 6, 7, 6, 6, 6,  6,  5,  5,  5,  5,  11, 11, 11, 11, 11, 11, 11, 11,
    11, 11, 11, 0, 0, 2, 2, 2, 0, 8, 8,  8,  8,  8,  8,  8,  8,  8,  9,  9,  9,  9,  9,  9,
    9,  0,  0,  0, 0, 8, 0, 0, 0, 0, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 0,  0,  0,
};

TEST(LineTable, GivesTheLinesOfACompiledFunction) {
  EXPECT_EQ(lines_in(kCompiled, 1, kLinesOfCompiled.size()), kLinesOfCompiled);
  std::vector<std::uint32_t> later = kLinesOfCompiled;
  for (std::uint32_t& line : later) line += line == 0 ? 0 : 999;
  EXPECT_EQ(lines_in(kCompiled, 1000, later.size()), later);
  EXPECT_EQ(line_of_instruction(kCompiled, 1, kLinesOfCompiled.size()), 0u);  // behind the end
}

// Short entries keep the line, and have a byte for columns; entries of one line go on by 0 to 2.
TEST(LineTable, KnowsEachKindOfEntry) {
  for (unsigned kind = 0; kind < 10; ++kind) {
    EXPECT_EQ(lines_in({entry(kind, 2), 5, entry(13, 1), 2}, 7, 3), (std::vector{7u, 7u, 8u}));
  }
  EXPECT_EQ(lines_in({entry(10, 1), 1, 2, entry(11, 1), 1, 2, entry(12, 1), 1, 2}, 7, 3),
            (std::vector{7u, 8u, 10u}));
  EXPECT_EQ(lines_in({entry(13, 8), 3, entry(15, 1), entry(13, 1), 0}, 7, 10),
            (std::vector{6u, 6u, 6u, 6u, 6u, 6u, 6u, 6u, 0u, 6u}));  // 15: no line
  EXPECT_EQ(lines_in({entry(14, 1), 4, 0, 1, 1, entry(14, 1), 5, 0, 1, 1}, 7, 2),
            (std::vector{9u, 7u}));
}

// 6 bits a byte, the lowest bit is the sign.
TEST(LineTable, ReadsLongDifferences) {
  EXPECT_EQ(lines_in({entry(13, 1), 64, 1, entry(13, 1), 65, 1}, 100, 2),
            (std::vector{132u, 100u}));
  const Table largest = {entry(13, 1), 126, 127, 127, 127, 127, 3};
  EXPECT_EQ(line_of_instruction(largest, 0, 0), 0x7fff'ffffu);
}

// A table that is in the making, or is none at all.
TEST(LineTable, EndsWithATableThatIsCutOrMeaningless) {
  for (std::size_t size = 0; size <= kCompiled.size(); ++size) {
    const Table cut(kCompiled.begin(), kCompiled.begin() + static_cast<std::ptrdiff_t>(size));
    std::vector<std::uint32_t> lines = lines_in(cut, 1, kLinesOfCompiled.size());
    const auto differs = std::ranges::mismatch(lines, kLinesOfCompiled).in1;
    // Only the entry that was cut may have another line.
    EXPECT_LE(std::count_if(differs, lines.end(), [](std::uint32_t line) { return line != 0; }), 8);
  }
  EXPECT_EQ(line_of_instruction(Table(100'000, 64), 1, 0), 1u);
  EXPECT_EQ(line_of_instruction(Table(100'000, 127), 1, 10), 0u);
}

TEST(LineTable, IsReadUpToALimit) {
  Table table;
  for (int i = 0; i < 20'000; ++i) table.insert(table.end(), {entry(13, 1), 2});
  EXPECT_EQ(line_of_instruction(table, 1, 16'383), 16'385u);
  EXPECT_EQ(line_of_instruction(table, 1, 16'384), 0u);
}

}  // namespace
}  // namespace timeloom::python
