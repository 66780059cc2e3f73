// The file `memory` of a spool: read whole, cut and damaged.
#include "spool/memory_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

#include "../support/temp_directory.hpp"
#include "core/checksum.hpp"

namespace timeloom::spool {
namespace {

constexpr std::uint64_t kDeath = MemoryBlock::kDeath;

template <typename Value>
void put(std::string& bytes, std::size_t offset, Value value) {
  if (bytes.size() < offset + sizeof value) bytes.resize(offset + sizeof value);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

void put_block(std::string& bytes, std::uint64_t number, const MemoryBlock& block) {
  put(bytes, kMemoryBlocksAt + number * sizeof block, block);
}

void put_path(std::string& bytes, std::size_t number, std::uint32_t parent, std::uint32_t region) {
  put(bytes, kMemoryPathsAt + number * sizeof(MemoryPath) + sizeof(MemoryPath) - 8,
      std::uint64_t{});
  put(bytes, kMemoryPathsAt + number * sizeof(MemoryPath), parent);
  put(bytes, kMemoryPathsAt + number * sizeof(MemoryPath) + 4, region);
}

// A thread, a call path in it, and two blocks, of which the first has died.
std::string whole_memory_file() {
  std::string bytes;
  put(bytes, 0, kMemoryMagic);
  put(bytes, 8, kMemoryVersion);
  put(bytes, 10, std::uint16_t{0});
  put(bytes, offsetof(MemoryHeader, check),
      checksum(reinterpret_cast<const std::byte*>(bytes.data()), offsetof(MemoryHeader, check)));
  put(bytes, offsetof(MemoryHeader, interval), std::uint64_t{4096});
  put(bytes, offsetof(MemoryHeader, paths), std::uint64_t{4});
  put(bytes, offsetof(MemoryHeader, blocks), std::uint64_t{3});
  put(bytes, offsetof(MemoryHeader, peak_blocks), std::uint64_t{2});
  put(bytes, offsetof(MemoryHeader, foreign), std::uint64_t{0});
  put(bytes, offsetof(MemoryHeader, all), std::uint64_t{0});
  put(bytes, offsetof(MemoryHeader, peak_number), std::uint64_t{5});
  put_path(bytes, 2, 0, kMemoryThread);
  put_path(bytes, 3, 2, 7);
  put_block(bytes, 0, {10, 3, 100, 100});
  put_block(bytes, 1, {20, 3 | MemoryBlock::kWhole, 200, 300});
  put_block(bytes, 2, {30, 0 | kDeath, 100, 200});
  return bytes;
}

MemoryData read_memory_bytes(const std::string& bytes) {
  const test::TempDirectory directory;
  std::ofstream(directory.path() / kMemoryName, std::ios::binary) << bytes;
  return read_memory(SpoolDirectory(directory.path()));
}

TEST(MemoryReader, ReadsPathsAndBlocks) {
  const MemoryData data = read_memory_bytes(whole_memory_file());
  EXPECT_TRUE(data.exists);
  EXPECT_FALSE(data.damaged);
  ASSERT_EQ(data.paths.size(), 4u);
  EXPECT_EQ(data.paths[3].parent, 2u);
  EXPECT_EQ(data.paths[3].region, 7u);
  ASSERT_EQ(data.blocks.size(), 3u);
  EXPECT_TRUE(data.blocks[1].is_whole());
  EXPECT_EQ(data.peak_blocks, 2u);
}

TEST(MemoryReader, FindsNothingWithoutAFile) {
  const test::TempDirectory directory;
  EXPECT_FALSE(read_memory(SpoolDirectory(directory.path())).exists);
}

TEST(MemoryReader, KeepsWhatComesBeforeACut) {
  std::string bytes = whole_memory_file();
  bytes.resize(bytes.size() - 40);  // in the second block
  const MemoryData data = read_memory_bytes(bytes);
  EXPECT_TRUE(data.damaged);
  EXPECT_EQ(data.paths.size(), 4u);
  EXPECT_EQ(data.blocks.size(), 1u);
  EXPECT_EQ(data.peak_blocks, 1u);
}

TEST(MemoryReader, NoticesBytesThatWereInserted) {
  for (const std::size_t at : {kMemoryPathsAt + 3 * sizeof(MemoryPath), kMemoryHoldingsAt - 64}) {
    std::string bytes = whole_memory_file();
    bytes.insert(at, sizeof(MemoryPath), '\0');
    EXPECT_TRUE(read_memory_bytes(bytes).damaged) << at;
  }
}

// Four paths whose blocks are all known, of which the last two changed after the peak or not.
std::string file_with_holdings() {
  std::string bytes = whole_memory_file();
  put(bytes, offsetof(MemoryHeader, all), std::uint64_t{1});
  const auto put_holding = [&](std::size_t number, const MemoryHolding& holding) {
    put(bytes, kMemoryHoldingsAt + number * sizeof holding, holding);
  };
  put_holding(2, {100, 2, 5, 70, 1});
  put_holding(3, {300, 4, 4, 1, 1});
  return bytes;
}

TEST(MemoryReader, KnowsWhatPathsHeldAtThePeakAndAtTheEnd) {
  const MemoryData data = read_memory_bytes(file_with_holdings());
  EXPECT_TRUE(data.all);
  EXPECT_FALSE(data.damaged);
  EXPECT_EQ(data.paths[2].held, 100u);
  EXPECT_EQ(data.paths[2].held_blocks, 2u);
  EXPECT_EQ(data.paths[2].peak_held, 70u);
  EXPECT_EQ(data.paths[2].peak_held_blocks, 1u);
  EXPECT_EQ(data.paths[3].held, 300u);
  EXPECT_EQ(data.paths[3].peak_held, 300u);  // unchanged since then
  EXPECT_EQ(data.paths[3].peak_held_blocks, 4u);
}

TEST(MemoryReader, KnowsWhetherEachBlockIsInTheLogAndTheMostAtAnAllocation) {
  std::string bytes = file_with_holdings();
  put(bytes, kMemoryPathsAt + 3 * sizeof(MemoryPath) + offsetof(MemoryPath, highest),
      std::uint64_t{4000});
  put(bytes, offsetof(MemoryHeader, resident), std::uint64_t{7000});
  EXPECT_FALSE(read_memory_bytes(bytes).each);
  put(bytes, offsetof(MemoryHeader, all), kMemoryEachBlock);
  const MemoryData data = read_memory_bytes(bytes);
  EXPECT_TRUE(data.all && data.each);
  EXPECT_EQ(data.paths[3].highest, 4000u);
  EXPECT_EQ(data.resident, 7000u);
}

TEST(MemoryReader, CountsAnImpossibleHoldingAsNothing) {
  std::string bytes = file_with_holdings();
  put(bytes, kMemoryHoldingsAt + 3 * sizeof(MemoryHolding), UINT64_MAX);
  const MemoryData data = read_memory_bytes(bytes);
  EXPECT_TRUE(data.damaged);
  EXPECT_EQ(data.paths[2].held, 100u);
  EXPECT_EQ(data.paths[3].held, 0u);
  EXPECT_EQ(data.paths[3].peak_held, 0u);
}

TEST(MemoryHolding, KeepsWhatWasHeldAtTheLastPeakOnly) {
  MemoryHolding holding{};
  const auto change = [&](std::uint64_t peak, std::int64_t bytes) {
    holding.keep_peak(peak);
    holding.bytes += static_cast<std::uint64_t>(bytes);
    holding.blocks += bytes > 0 ? 1 : UINT64_MAX;
  };
  EXPECT_EQ(holding.at_peak(0).first, 0u);
  change(0, 10);
  EXPECT_EQ(holding.at_peak(0).first, 0u);
  EXPECT_EQ(holding.at_peak(1), std::pair(std::uint64_t{10}, std::uint64_t{1}));
  change(1, 20), change(1, -10);
  EXPECT_EQ(holding.at_peak(1), std::pair(std::uint64_t{10}, std::uint64_t{1}));
  EXPECT_EQ(holding.at_peak(7), std::pair(std::uint64_t{20}, std::uint64_t{1}));
}

TEST(MemoryReader, RefusesImpossibleHeadersAndPaths) {
  const auto is_refused = [](std::size_t offset, auto value) {
    std::string bytes = whole_memory_file();
    put(bytes, offset, value);
    const MemoryData data = read_memory_bytes(bytes);
    return data.damaged && data.paths.empty() && data.blocks.empty();
  };
  EXPECT_TRUE(is_refused(0, std::uint64_t{1}));
  EXPECT_TRUE(is_refused(offsetof(MemoryHeader, check), std::uint32_t{1}));
  EXPECT_TRUE(is_refused(offsetof(MemoryHeader, interval), std::uint64_t{0}));
  EXPECT_TRUE(is_refused(offsetof(MemoryHeader, paths), UINT64_MAX));
  EXPECT_TRUE(is_refused(offsetof(MemoryHeader, blocks), UINT64_MAX));
  EXPECT_TRUE(is_refused(kMemoryPathsAt + 3 * sizeof(MemoryPath), std::uint32_t{3}));  // a circle
}

TEST(MemoryReader, EndsTheLogAtAnImpossibleBlock) {
  for (const std::uint64_t what : {std::uint64_t{4}, kDeath | 1, kDeath | 5}) {
    std::string bytes = whole_memory_file();
    put_block(bytes, 1, {20, what, 200, 300});
    const MemoryData data = read_memory_bytes(bytes);
    EXPECT_TRUE(data.damaged);
    EXPECT_EQ(data.blocks.size(), 1u);
  }
}

}  // namespace
}  // namespace timeloom::spool
