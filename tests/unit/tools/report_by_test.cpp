#include "tools/report/report_by.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "core/throttled.hpp"
#include "core/waiting_metric.hpp"
#include "profile/story.hpp"

namespace timeloom::tools {
namespace {

std::string rows_of(const profile::CallTree& tree, GroupKey key) {
  std::set<LocationId> all;
  for (const Location& one : tree.definitions.locations) all.insert(one.id);
  std::string text;
  for (const GroupRow& row : group_rows(tree, key, all)) {
    text += row.name + ": " + (row.at_least ? ">= " : "") + std::to_string(row.visits) +
            " visits of " + std::to_string(row.functions) + "; ";
  }
  return text;
}

profile::Story two_processes() {
  profile::Story story;
  story.thread("one", "main +9 f +1 ) )").thread("two", "f +5 g +1 ) )");
  story.thread("three", "f +3 f +1 ) )", 1);
  story.definitions().groups[0].name = "first";
  story.definitions().groups[1].name = "second";
  return story;
}

TEST(ReportBy, CountsAFunctionOfAProcessOnce) {
  const profile::CallTree tree = two_processes().fold();
  EXPECT_EQ(rows_of(tree, GroupKey::kProcess), "first: 4 visits of 3; second: 2 visits of 1; ");
  EXPECT_EQ(rows_of(tree, GroupKey::kThread),
            "one of first: 2 visits of 2; two of first: 2 visits of 2; "
            "three of second: 2 visits of 1; ");
}

TEST(ReportBy, HostsHaveTheProcessesThatRanThere) {
  profile::Story story = two_processes();
  story.thread("four", "g +2 )", 2);
  story.definitions().groups[0].hostname = "near";
  story.definitions().groups[1].hostname = "far";
  story.definitions().groups[2].hostname = "near";
  EXPECT_EQ(rows_of(story.fold(), GroupKey::kHost), "near: 5 visits of 3; far: 2 visits of 1; ");
}

TEST(ReportBy, MarksWhatWasNotTimedToTheEnd) {
  profile::CallTree tree = two_processes().fold();
  tree.definitions.properties[kThrottled] = throttled_text({&tree.definitions.regions[2]});
  EXPECT_EQ(rows_of(tree, GroupKey::kProcess), "first: >= 4 visits of 3; second: 2 visits of 1; ");
  EXPECT_EQ(rows_of(tree, GroupKey::kFile),
            "f.py: 4 visits of 1; main.py: 1 visits of 1; g.py: >= 1 visits of 1; ");
}

// Threads of a pool: two work, two get nothing to do; one thread waits in a function of the
// program.
TEST(ReportBy, PutsThreadsThatHadNothingToDoLast) {
  profile::Story story;
  story.thread("main", "main +1000 )").thread("idle-0", "libworker +1000 )");
  story.thread("busy-0", "libworker +500 f +500 ) )").thread("idle-1", "libworker +999 )");
  story.thread("busy-1", "libworker +900 f +100 ) )").thread("sleeper", "f +1000 )");
  for (Region& region : story.definitions().regions) {
    if (region.name == "libworker") region.file = "<frozen os>";
  }
  story.definitions().clock.ticks_per_second = 1000;
  story.definitions().metrics = {waiting_metric()};
  profile::CallTree tree = story.fold();
  const std::pair<std::size_t, std::uint64_t> waiting[] = {
      {1, 999}, {2, 500}, {3, 999}, {4, 900}, {5, 1000}};
  for (const auto& [location, ms] : waiting) {
    const profile::NodeId node = tree.locations[location].cells.front().node;
    tree.locations[location].samples.push_back({MetricId{0}, node, ms * 1'000'000});
  }
  std::set<LocationId> all;
  for (const Location& one : tree.definitions.locations) all.insert(one.id);
  std::string names;
  for (const GroupRow& row : group_rows(tree, GroupKey::kThread, all)) {
    names += row.name + (row.idle ? " (idle) " : " ");
  }
  EXPECT_EQ(names, "main busy-0 busy-1 sleeper idle-0 (idle) idle-1 (idle) ");
  for (const GroupRow& row : group_rows(tree, GroupKey::kProcess, all)) EXPECT_FALSE(row.idle);
}

}  // namespace
}  // namespace timeloom::tools
