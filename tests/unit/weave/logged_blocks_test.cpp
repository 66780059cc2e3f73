// The blocks in the log of memory.
#include "preload/memory/logged_blocks.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace timeloom::preload {
namespace {

struct FakeLog {
  static constexpr std::uint64_t kNone = UINT64_MAX;
  std::uint64_t add_birth(std::uint32_t, std::uint64_t, std::uint64_t, bool) {
    return births < most_births ? births++ : (++lost, kNone);
  }
  void add_death(std::uint64_t birth, std::uint64_t, std::uint64_t) { deaths.push_back(birth); }
  void count_lost_block() { ++lost; }
  bool logs_each() const { return true; }

  std::uint64_t most_births = 1000;
  std::uint64_t births = 0;
  std::vector<std::uint64_t> deaths;
  std::uint64_t lost = 0;
};
using FewBlocks = LoggedBlocks<3, FakeLog>;  // 6 blocks

// A death in the log would mean that the block has lived no time.
TEST(LoggedBlocks, ThatHaveNoSpaceAreLostWithoutBirthAndDeath) {
  FakeLog file;
  const auto blocks = std::make_unique<FewBlocks>();
  for (std::uint64_t i = 1; i <= 8; ++i) blocks->add(file, 7, 16 * i, 100, 0);
  EXPECT_EQ(file.births, 6u);
  EXPECT_EQ(file.lost, 2u);
  EXPECT_TRUE(file.deaths.empty());
  blocks->remove(file, 16 * 8, 100, 0);
  EXPECT_TRUE(file.deaths.empty());
  blocks->remove(file, 16 * 3, 100, 0);
  EXPECT_EQ(file.deaths, std::vector<std::uint64_t>{2});
  blocks->add(file, 7, 16 * 9, 100, 0);
  EXPECT_EQ(file.births, 7u);
  EXPECT_EQ(file.lost, 2u);
}

TEST(LoggedBlocks, AreNotHereWhereTheLogHasEnded) {
  FakeLog file;
  file.most_births = 1;
  const auto blocks = std::make_unique<FewBlocks>();
  for (std::uint64_t i = 1; i <= 2; ++i) blocks->add(file, 7, 16 * i, 100, 0);
  EXPECT_TRUE(blocks->may_have(16));
  EXPECT_FALSE(blocks->may_have(32));
  blocks->remove(file, 16, 100, 0);
  blocks->remove(file, 32, 100, 0);
  EXPECT_EQ(file.deaths, std::vector<std::uint64_t>{0});
  EXPECT_EQ(file.lost, 1u);
}

}  // namespace
}  // namespace timeloom::preload
