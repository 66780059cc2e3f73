#include "tools/diff/diff_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/throttled.hpp"
#include "profile/story.hpp"

namespace timeloom::tools {
namespace {

profile::CallTree run(const std::string& script) {
  profile::Story story;
  story.thread("main", script);
  story.definitions().clock.ticks_per_second = 1000;
  return story.fold();
}

profile::Diff sample_diff() {
  return compare(run("main +100 same +50 ) slow +200 ) fast +300 ) gone +10 ) )"),
                 run("main +100 same +50 ) slow +450 ) fast +100 ) new +20 ) )"));
}

std::string text(const DiffRows& rows, const profile::Diff& diff = {}) {
  std::string all;
  for (const DiffRow& row : rows.rows) {
    for (const std::string& one : path_of(diff, row.node, 9)) all += one + ">";
    all += row.name + " " + std::string(change_name(row.change())) + " " +
           std::to_string(std::lround(row.difference() * 1000)) + "; ";
  }
  return all + std::to_string(rows.hidden);
}

std::vector<std::string> slow_in(const profile::Diff& diff, double percent, bool by_work = false) {
  std::vector<std::string> lines;
  for (const Compared& one : compare_with_limit(diff, percent, by_work)) {
    if (one.too_slow) lines.push_back(one.text());
  }
  return lines;
}

TEST(DiffRows, BeginWithWhatChangedMost) {
  EXPECT_EQ(
      text(region_rows(sample_diff(), {})),
      "slow slower 250; fast faster -200; new new 20; gone gone -10; main same 0; same same 0; "
      "0");
  EXPECT_EQ(text(region_rows(sample_diff(), {.min_percent = 2})),
            "slow slower 250; fast faster -200; new new 20; 3");
  const profile::Diff diff = sample_diff();
  EXPECT_EQ(text(call_path_rows(diff, {.min_percent = 5}), diff),
            "main>slow>slow slower 250; main>fast>fast faster -200; 4");
}

TEST(DiffRows, KnowTheInnermostOfAPath) {
  const profile::CallTree tree = run("a b c n=2 +100 ) ) )");
  const profile::Diff diff = compare(tree, tree);
  using Names = std::vector<std::string>;
  const profile::NodeId last{static_cast<std::uint32_t>(diff.nodes.size() - 1)};
  EXPECT_EQ(path_of(diff, last, 9), (Names{"a", "b", "c {n=2}"}));
  EXPECT_EQ(path_of(diff, last, 2), (Names{"b", "c {n=2}"}));
}

TEST(DiffRows, SayWhatIsTooSlow) {
  // 660 ms became 720 ms, slow 200 ms 450 ms.
  EXPECT_EQ(slow_in(sample_diff(), 200), (std::vector<std::string>{}));
  EXPECT_EQ(slow_in(sample_diff(), 50),
            (std::vector<std::string>{"slow takes 0.45 s instead of 0.2 s"}));
  EXPECT_EQ(slow_in(sample_diff(), 5),
            (std::vector<std::string>{"the whole takes 0.72 s instead of 0.66 s",
                                      "main takes 0.72 s instead of 0.66 s",
                                      "slow takes 0.45 s instead of 0.2 s"}));
  const profile::Diff small = compare(run("main +1000 tiny +1 ) )"), run("main +1000 tiny +9 ) )"));
  EXPECT_EQ(slow_in(small, 5), (std::vector<std::string>{}));
}

// main works 100 ms, slow `ms` in one run each.
std::vector<profile::DiffRun> runs_of(const profile::CallTree& tree,
                                      const std::vector<double>& ms) {
  std::vector<profile::DiffRun> runs;
  for (const double one : ms) runs.push_back({&tree, {0.1, one / 1000}, {0, 0}});
  return runs;
}

TEST(DiffRows, OfWorkAreBeyondTheSpreadOfTheRuns) {
  const profile::CallTree tree = run("main +1 slow +1 ) )");
  const DiffRowOptions by_work{.by_work = true};
  const auto before = runs_of(tree, {40, 44, 60}), after = runs_of(tree, {61, 70, 75});
  const profile::Diff slower = compare(before, after);
  EXPECT_EQ(text(region_rows(slower, {.min_percent = 1, .by_work = true})), "slow slower 26; 1");
  EXPECT_EQ(slow_in(slower, 20, true),
            (std::vector<std::string>{"slow works 0.07 s instead of 0.044 s"}));
  const profile::Diff within = compare(before, runs_of(tree, {59, 70, 75}));
  EXPECT_EQ(region_rows(within, by_work).within_spread, 2u);
  EXPECT_EQ(slow_in(within, 20, true), (std::vector<std::string>{}));
}

TEST(DiffRows, DoNotJudgeWhatWasNotTimedToTheEnd) {
  profile::CallTree before = run("main +900 fib +260 ) )");
  before.definitions.properties[kThrottled] = throttled_text({&before.definitions.regions[1]});
  const profile::Diff diff = compare(before, run("main +760 fib +400 ) )"));
  EXPECT_EQ(slow_in(diff, 20), (std::vector<std::string>{}));
  EXPECT_EQ(not_timed(diff), "fib");
  EXPECT_EQ(not_timed(sample_diff()), "");
}

TEST(DiffRows, TakeDifferencesOfProfiles) {
  profile::CallTree negative = run("main +100 )");
  negative.locations[0].cells[0].statistics.inclusive = static_cast<std::uint64_t>(-100);
  const profile::Diff diff = compare(negative, negative);
  EXPECT_EQ(slow_in(diff, 20), (std::vector<std::string>{}));
  EXPECT_EQ(text(region_rows(diff, {.min_percent = 1})), "1");
}

}  // namespace
}  // namespace timeloom::tools
