#include "tools/report/report_rows.hpp"

#include <gtest/gtest.h>

#include "profile/story.hpp"

namespace timeloom::tools {
namespace {

using profile::CallTree;
using profile::Story;

// a (100: 10 of its own) calls b (60) and c (30); b calls d 3 times (5, 5, 10).
CallTree sample_tree() {
  Story story;
  story.thread("main", "a +5 b +20 d +5 ) d +5 ) d +10 ) +20 ) c +30 ) +5 )")
      .thread("other", "a +40 )", 1);
  story.definitions().clock.ticks_per_second = 1000;
  return story.fold();
}

std::string names(const ReportData& data, const Rows& rows) {
  std::string text;
  for (const Row& row : rows.rows)
    text += std::string(row.depth, '>') + data.region_name(row.region) + " ";
  return text;
}

TEST(ReportRows, OrdersSiblingsByInclusiveTimeAndRegionsByExclusiveTime) {
  const CallTree tree = sample_tree();
  const ReportData data(tree, {});
  EXPECT_EQ(names(data, data.tree_rows({})), "a >b >>d >c ");
  EXPECT_EQ(names(data, data.flat_rows({})), "a b c d ");
  EXPECT_DOUBLE_EQ(data.total_seconds(), 0.14);
}

TEST(ReportRows, SortsByEveryKey) {
  const CallTree tree = sample_tree();
  const ReportData data(tree, {});
  const auto flat = [&](SortKey key) { return names(data, data.flat_rows({.sort = key})); };
  EXPECT_EQ(flat(SortKey::kInclusive), "a b c d ");
  EXPECT_EQ(flat(SortKey::kExclusive), "a b c d ");
  EXPECT_EQ(flat(SortKey::kVisits), "d a b c ");
  EXPECT_EQ(flat(SortKey::kMean), "a b c d ");
  EXPECT_EQ(flat(SortKey::kName), "a b c d ");
  Story story;
  story.thread("main", "z y +1 ) x +1 ) x +1 ) )");
  const CallTree other = story.fold();
  const ReportData by_name(other, {});
  EXPECT_EQ(names(by_name, by_name.tree_rows({.sort = SortKey::kName})), "z >x >y ");
  EXPECT_EQ(names(by_name, by_name.flat_rows({.sort = SortKey::kName})), "x y z ");
  EXPECT_EQ(names(by_name, by_name.tree_rows({.sort = SortKey::kMean})), "z >y >x ");
}

TEST(ReportRows, ComputesFigures) {
  const CallTree tree = sample_tree();
  const ReportData data(tree, {});
  const Figures d = data.flat_rows({}).rows[3].figures;
  EXPECT_EQ(d.visits, 3u);
  EXPECT_DOUBLE_EQ(d.inclusive, 0.02);
  EXPECT_DOUBLE_EQ(d.exclusive, 0.02);
  EXPECT_DOUBLE_EQ(d.mean, 0.02 / 3);
  EXPECT_DOUBLE_EQ(d.min, 0.005);
  EXPECT_DOUBLE_EQ(d.max, 0.01);
  EXPECT_DOUBLE_EQ(d.inclusive_share, 0.02 / 0.14);
}

TEST(ReportRows, CountsWhatItHides) {
  const CallTree tree = sample_tree();
  const ReportData data(tree, {});
  const Rows rows = data.tree_rows({.sort = {}, .min_percent = 25});
  EXPECT_EQ(names(data, rows), "a >b ");
  EXPECT_EQ(rows.hidden.small, 2u);
  EXPECT_DOUBLE_EQ(rows.hidden.small_seconds, 0.05);
  const Rows top = data.tree_rows({.sort = {}, .min_percent = 0, .depth = 1});
  EXPECT_EQ(names(data, top), "a ");
  EXPECT_EQ(top.hidden.deep, 3u);
  EXPECT_EQ(top.hidden.small, 0u);
  EXPECT_EQ(data.flat_rows({.sort = {}, .min_percent = 25}).hidden.small, 2u);
}

TEST(ReportRows, MarksOnlyAndLastChildrenAmongTheRowsShown) {
  const CallTree tree = sample_tree();
  const ReportData data(tree, {});
  const auto all = data.tree_rows({}).rows;  // a b d c
  EXPECT_TRUE(all[0].only_child);
  EXPECT_FALSE(all[1].only_child || all[1].last_child);
  EXPECT_TRUE(all[2].only_child);
  EXPECT_TRUE(all[3].last_child);
  EXPECT_FALSE(all[3].only_child);
  EXPECT_TRUE(data.tree_rows({.sort = {}, .min_percent = 25}).rows[1].only_child);
}

TEST(ReportRows, TakesTheChosenLocations) {
  const CallTree tree = sample_tree();
  const ReportData data(tree, [](const Location& one) { return one.name == "other"; });
  EXPECT_EQ(names(data, data.tree_rows({})), "a ");
  EXPECT_DOUBLE_EQ(data.total_seconds(), 0.04);
}

TEST(ReportRows, ShowsEverythingWhenNoTimePassed) {
  const CallTree tree = Story().thread("main", "a b ) )").fold();
  const ReportData data(tree, {});
  EXPECT_EQ(names(data, data.tree_rows({.sort = {}, .min_percent = 50})), "a >b ");
  EXPECT_EQ(data.tree_rows({}).rows[0].figures.inclusive_share, 0);
}

TEST(ReportRows, NamesWhatHasNoName) {
  Story story;
  story.thread("main", "a b ) )").definitions().regions[0].name.clear();
  const CallTree tree = story.fold({1, 0, 0});
  const ReportData data(tree, {});
  EXPECT_EQ(names(data, data.tree_rows({})), "region 0 >(more call paths) ");
}

}  // namespace
}  // namespace timeloom::tools
