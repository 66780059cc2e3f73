#include <gtest/gtest.h>

#include <stdexcept>

#include "profile/story.hpp"
#include "tools/report/imports/report_imports.hpp"

namespace timeloom::tools {
namespace {

// Ticks are milliseconds. `load` imports `b`, which `a` has imported already in another process.
profile::CallTree modules() {
  profile::Story story;
  story.thread("main",
               "__main__.<module> +5 a.<module> +10 a.helper +3 ) b.<module> +20 c.<module> +7 ) ) "
               ") +1 )");
  story.thread("main of other", "load +2 b.<module> +40 ) )", 1);
  story.definitions().clock.ticks_per_second = 1000;
  return story.fold();
}

const ImportRow& row_of(const ImportFacts& facts, const profile::CallTree& tree,
                        const std::string& name) {
  for (const ImportRow& row : facts.rows) {
    if (tree.definitions.regions[row.body.value()].name == name) return row;
  }
  throw std::out_of_range(name);
}

TEST(ImportFacts, TimeIsOfTheBodyThatRan) {
  const profile::CallTree tree = modules();
  const ImportFacts facts = import_facts(tree);
  ASSERT_EQ(facts.rows.size(), 3u);
  EXPECT_DOUBLE_EQ(facts.all, 0.080);
  EXPECT_DOUBLE_EQ(facts.run, 0.088);
  const ImportRow& a = row_of(facts, tree, "a.<module>");
  EXPECT_DOUBLE_EQ(a.own, 0.013);  // with its helper
  EXPECT_DOUBLE_EQ(a.total, 0.040);
  EXPECT_EQ(a.processes, 1u);
  const ImportRow& b = row_of(facts, tree, "b.<module>");
  EXPECT_DOUBLE_EQ(b.own, 0.060);
  EXPECT_DOUBLE_EQ(b.total, 0.067);
  EXPECT_EQ(b.processes, 2u);
  EXPECT_EQ(tree.definitions.regions[b.importer.value()].name, "load");
  EXPECT_DOUBLE_EQ(b.of_importer, 0.040);
  EXPECT_EQ(facts.rows.front().body, b.body);
}

}  // namespace
}  // namespace timeloom::tools
