// The owners of blocks: compared with a map, while blocks come and go.
#include "preload/memory/block_owners.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

namespace timeloom::preload {
namespace {

TEST(BlockOwners, AreThoseOfAMap) {
  const auto owners = std::make_unique<BlockOwners>();
  std::unordered_map<std::uint64_t, std::uint32_t> expected;
  std::vector<std::uint64_t> addresses;
  std::mt19937_64 random(1);
  for (int i = 0; i < 400'000; ++i) {
    const bool grows = i % 200'000 < 120'000;
    const std::uint64_t address = 0x7f00'0000'0000 + random() % (1 << 22) * 16;
    if (random() % 4 < (grows ? 3u : 1u)) {
      const auto path = static_cast<std::uint32_t>(random() % (1 << 17));
      ASSERT_TRUE(owners->insert(address, path));
      if (expected.insert_or_assign(address, path).second) addresses.push_back(address);
    } else if (!addresses.empty()) {
      std::swap(addresses[random() % addresses.size()], addresses.back());
      ASSERT_EQ(owners->take(addresses.back()), expected.at(addresses.back()));
      ASSERT_EQ(owners->take(addresses.back()), BlockOwners::kNone);
      expected.erase(addresses.back());
      addresses.pop_back();
    }
  }
  ASSERT_GT(addresses.size(), 20'000u);
  for (const auto& [address, path] : expected) ASSERT_EQ(owners->take(address), path);
  owners->clear();
}

TEST(BlockOwners, KnowAddressesOfEveryAlignmentOfAllocators) {
  const auto owners = std::make_unique<BlockOwners>();
  EXPECT_EQ(owners->take(16), BlockOwners::kNone);
  const std::uint64_t highest = 0xffff'ffff'fff8;
  EXPECT_TRUE(owners->insert(8, 0));
  EXPECT_TRUE(owners->insert(highest, 131'071));
  EXPECT_FALSE(owners->insert(0, 1));
  EXPECT_FALSE(owners->insert(12, 1));
  EXPECT_FALSE(owners->insert(0x4'0000'0000'0000, 1));
  EXPECT_EQ(owners->take(8), 0u);
  EXPECT_EQ(owners->take(highest), 131'071u);
  owners->clear();
  EXPECT_EQ(owners->take(highest), BlockOwners::kNone);
}

}  // namespace
}  // namespace timeloom::preload
