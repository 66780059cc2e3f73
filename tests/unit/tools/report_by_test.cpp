#include "tools/report/report_by.hpp"

#include <gtest/gtest.h>

#include "core/throttled.hpp"
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

TEST(ReportBy, MarksWhatWasNotTimedToTheEnd) {
  profile::CallTree tree = two_processes().fold();
  tree.definitions.properties[kThrottled] = throttled_text({&tree.definitions.regions[2]});
  EXPECT_EQ(rows_of(tree, GroupKey::kProcess), "first: >= 4 visits of 3; second: 2 visits of 1; ");
  EXPECT_EQ(rows_of(tree, GroupKey::kFile),
            "f.py: 4 visits of 1; main.py: 1 visits of 1; g.py: >= 1 visits of 1; ");
}

}  // namespace
}  // namespace timeloom::tools
