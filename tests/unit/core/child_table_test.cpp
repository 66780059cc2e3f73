#include "core/child_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace timeloom {
namespace {

using Child = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // parent, region, node

// After each insertion the child is found, but neither its neighbours nor its twins.
void expect_all_found(const std::vector<Child>& children) {
  ChildTable table;
  for (const auto& [parent, region, node] : children) {
    ASSERT_EQ(table.find(parent, region), ChildTable::kNone);
    table.insert(parent, region, node);
    ASSERT_EQ(table.find(parent, region), node);
  }
  for (const auto& [parent, region, node] : children) {
    ASSERT_EQ(table.find(parent, region), node);
    ASSERT_EQ(table.find(parent, region + 1'000'000), ChildTable::kNone);
    ASSERT_EQ(table.find(parent + 1'000'000, region), ChildTable::kNone);
  }
}

TEST(ChildTable, FindsEveryChildOfAWideParent) {
  std::vector<Child> children;
  for (std::uint32_t i = 0; i < 20'000; ++i) children.emplace_back(7, i, i + 8);
  expect_all_found(children);
}

TEST(ChildTable, FindsChildrenOfManyParents) {
  std::vector<Child> children;
  for (std::uint32_t i = 0; i < 20'000; ++i) children.emplace_back(i, i % 13, i + 1);
  expect_all_found(children);
  std::ranges::reverse(children);
  expect_all_found(children);
}

// They share a bucket, whatever the size of the table.
TEST(ChildTable, FindsChildrenOfParentsFarApart) {
  std::vector<Child> children;
  for (std::uint32_t i = 0; i < 4'000; ++i) children.emplace_back(i << 20, 3, i);
  expect_all_found(children);
}

TEST(ChildTable, ZerosArePairsLikeOthers) { expect_all_found({{0, 0, 0}, {0, 1, 1}, {1, 0, 2}}); }

}  // namespace
}  // namespace timeloom
