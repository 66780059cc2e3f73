// The text of `timeloom report --memory`.
#include "tools/report/memory/report_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace timeloom::tools {
namespace {

// Of a process that knows the life of each block, but of so many that were lost.
MemoryFacts facts_with_lost(std::uint64_t lost) {
  constexpr std::uint64_t kBlocks = 1000;
  ProcessMemory process;
  process.interval = 512 << 10;
  process.all = kEachBlock;
  process.lost = lost;
  process.other.allocations = kBlocks;
  MemoryRow row;
  row.apart = "(outside all regions)";
  for (std::uint64_t i = 0; i < kBlocks; ++i) row.allocated.add_value(600);
  for (std::uint64_t i = 0; i < kBlocks / 2; ++i) row.temporary.add_value(600);
  MemoryFacts facts;
  facts.processes = {{"Process", process}};
  facts.rows = {row};
  return facts;
}

std::string memory_text(const MemoryFacts& facts) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  Output output(ends[1]);
  write_memory(facts, profile::CallTree{}, Terminal{}, output);
  output.flush();
  ::close(ends[1]);
  std::string text(65536, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], text.data(), 65536))));
  ::close(ends[0]);
  return text;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(ReportMemory, HasTheShareOfTemporaryBlocksWhereAllLivesAreKnown) {
  const std::string text = memory_text(facts_with_lost(0));
  EXPECT_TRUE(contains(text, "< 1 ms")) << text;
  EXPECT_TRUE(contains(text, "50.0%")) << text;
  EXPECT_TRUE(contains(text, "all numbers are exact")) << text;
}

TEST(ReportMemory, HasNoShareOfTemporaryBlocksWhereLivesAreNotKnown) {
  const std::string text = memory_text(facts_with_lost(500));
  EXPECT_FALSE(contains(text, "< 1 ms")) << text;
  EXPECT_FALSE(contains(text, "50.0%")) << text;
  EXPECT_TRUE(contains(text, "may lack the 500 allocations above")) << text;
}

}  // namespace
}  // namespace timeloom::tools
