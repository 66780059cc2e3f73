#include "formats/cube/cube_model.hpp"

#include <gtest/gtest.h>

namespace timeloom::cube {
namespace {

Cube tree_of(const std::vector<std::uint32_t>& parents) {
  Cube cube;
  for (const std::uint32_t parent : parents) cube.cnodes.push_back({CnodeId{parent}, {}, {}});
  return cube;
}

std::vector<std::uint32_t> wide(const std::vector<std::uint32_t>& parents) {
  std::vector<std::uint32_t> order;
  for (const CnodeId id : wide_order(tree_of(parents))) order.push_back(id.value());
  return order;
}

constexpr std::uint32_t kRoot = UINT32_MAX;

TEST(WideOrder, PutsSiblingsSideBySide) {
  // In pre-order: 0 -> (1 -> (2, 3), 4 -> (5)).
  EXPECT_EQ(wide({kRoot, 0, 1, 1, 0, 4}), (std::vector<std::uint32_t>{0, 1, 4, 2, 3, 5}));
}

TEST(WideOrder, IsNotBreadthFirst) {
  // 0 -> (1 -> (2 -> 3), 4 -> (5)): everything below 1 precedes the children of 4.
  EXPECT_EQ(wide({kRoot, 0, 1, 2, 0, 4}), (std::vector<std::uint32_t>{0, 1, 4, 2, 3, 5}));
}

TEST(WideOrder, FinishesOneRootBeforeTheNext) {
  EXPECT_EQ(wide({kRoot, 0, 0, kRoot, 3, 4}), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(WideOrder, TakesAnyDepth) {
  std::vector<std::uint32_t> chain = {kRoot};
  for (std::uint32_t i = 0; i < 200'000; ++i) chain.push_back(i);
  EXPECT_EQ(wide(chain).back(), 200'000u);
}

}  // namespace
}  // namespace timeloom::cube
