#include "core/measuring_cost.hpp"

#include <gtest/gtest.h>

namespace timeloom {
namespace {

TEST(MeasuringCost, ATextGivesTheNumbersBack) {
  const ProcessCost cost{.events = 2e6,
                         .event = 3.25e-8,
                         .ignored = 0.5,
                         .functions = 0.25,
                         .start = 0.03125,
                         .recorder = 0.125,
                         .cpu = 10,
                         .wall = 12};
  const ProcessCost read = process_cost_of(to_text(cost));
  EXPECT_EQ(to_text(read), to_text(cost));
  EXPECT_DOUBLE_EQ(read.event, 3.25e-8);
  EXPECT_DOUBLE_EQ(read.total(), 0.065 + 0.5 + 0.25 + 0.03125 + 0.125);
  EXPECT_DOUBLE_EQ(read.wall, 12);
}

TEST(MeasuringCost, WhatIsNoNumberCountsAsZero) {
  for (const char* text : {"", " ", "events", "events=", "events=x", "events=-1", "events=inf",
                           "events=nan", "events=1e999", "eventss=5", "=", "event =1"}) {
    EXPECT_EQ(to_text(process_cost_of(text)), to_text(ProcessCost{})) << text;
  }
  EXPECT_DOUBLE_EQ(process_cost_of("new=1  start=2 cpu=x").start, 2);
}

TEST(MeasuringCost, EventsOfAnUncalibratedProcessCostWhatThoseOfAnotherDo) {
  CostSum sum;
  EXPECT_FALSE(sum.sum());
  sum.add({.events = 100, .recorder = 1, .cpu = 20, .wall = 5});
  EXPECT_FALSE(sum.sum());
  sum.add({.events = 10,
           .event = 0.01,
           .ignored = 0.5,
           .functions = 2,
           .start = 3,
           .cpu = 40,
           .wall = 4});
  const auto all = sum.sum();
  ASSERT_TRUE(all);
  EXPECT_DOUBLE_EQ(all->events, 110 * 0.01 + 0.5);
  EXPECT_DOUBLE_EQ(all->total(), 1.6 + 2 + 3 + 1);
  EXPECT_DOUBLE_EQ(all->cpu, 60);
  EXPECT_DOUBLE_EQ(all->wall, 5);
  const auto read = measuring_cost_of({{kRunCost, to_text(*all)}});
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), to_text(*all));
  EXPECT_FALSE(measuring_cost_of({}));
}

TEST(MeasuringCost, AChildCostsWhatItsOwnCallbacksAndFirstSightsTell) {
  const ProcessCost calibrated{.events = 10,
                               .event = 0.5,
                               .inside = 0.375,
                               .callback = 80,
                               .registration = 2,
                               .ignored_callback = 0.125,
                               .quick_event = 0.25,
                               .quick_callback = 40,
                               .per_tick = 0.0625};
  CostSum slow;
  slow.add({.events = 100,
            .timed = 500,
            .functions = 1,
            .callback = 52,
            .registrations = 3,
            .callbacks = 8});
  slow.add(calibrated);
  const auto all = slow.sum();
  ASSERT_TRUE(all);
  EXPECT_DOUBLE_EQ(all->events, 10 * 0.5 + 100 * (0.25 + 12 * 0.0625) + 8 * 0.125);
  EXPECT_DOUBLE_EQ(all->functions, 1 + 3 * 2);
  EXPECT_DOUBLE_EQ(all->timed, 500);
  EXPECT_DOUBLE_EQ(all->event, (10 * 0.5 + 100 * 1.0) / 110);
  EXPECT_DOUBLE_EQ(all->inside, (10 * 0.375 + 100 * 0.875) / 110);
  CostSum quick;  // faster than the calibrated program: the cost is not reduced
  quick.add(calibrated);
  quick.add({.events = 100, .callback = 30});
  EXPECT_DOUBLE_EQ(quick.sum()->events, 10 * 0.5 + 100 * 0.25);
  CostSum untimed;
  untimed.add(calibrated);
  untimed.add({.events = 100});
  EXPECT_DOUBLE_EQ(untimed.sum()->events, 110 * 0.5);
}

TEST(MeasuringCost, AnEstimateOfMoreThanAllIsNone) {
  const auto of = [](const char* text) { return measuring_cost_of({{kRunCost, text}}); };
  EXPECT_FALSE(of("events=0.02 start=0.01 cpu=0.025 wall=0.1"));
  EXPECT_FALSE(of("events=0.02 cpu=0.02"));
  ASSERT_TRUE(of("events=0.02 cpu=0.021"));
  EXPECT_LT(shares_of(*of("events=0.02 cpu=0.021")).cpu, 1);
  EXPECT_TRUE(of("events=0.02"));  // nothing to compare it with
}

TEST(MeasuringCost, SharesOfAProgramThatWaitsAndOfOneThatUsesManyCores) {
  const Shares waits = shares_of({.events = 1, .recorder = 1, .weave = 50, .cpu = 10, .wall = 100});
  EXPECT_DOUBLE_EQ(waits.cpu, 0.2);
  EXPECT_DOUBLE_EQ(waits.wall, 0.01);
  const Shares parallel = shares_of({.events = 1, .recorder = 1, .cpu = 10, .wall = 2});
  EXPECT_DOUBLE_EQ(parallel.wall, 0.1);
  EXPECT_DOUBLE_EQ(shares_of({}).cpu, 0);
}

TEST(MeasuringCost, TheBandIsNarrowerWhereCallbacksWereTimed) {
  CostSum sum;
  sum.add({.events = 1e6, .event = 1e-8, .timed = 900, .cpu = 1});
  const double calibrated = sum.sum()->most_of_stated();
  sum.add({.events = 1e6, .event = 1e-8, .timed = 200, .cpu = 1});
  const double timed = sum.sum()->most_of_stated();
  EXPECT_EQ(sum.sum()->call().most, timed);
  EXPECT_DOUBLE_EQ(error_range_of(0.01, timed).least, 0);
  EXPECT_DOUBLE_EQ(error_range_of(0.005, timed).most, 0.025);
  EXPECT_DOUBLE_EQ(error_range_of(0.4, timed).least, 0.28);
  EXPECT_DOUBLE_EQ(error_range_of(0.4, timed).most, 0.8);
  EXPECT_DOUBLE_EQ(error_range_of(0.3, calibrated).most, 0.9);
  EXPECT_DOUBLE_EQ(error_range_of(0.4, calibrated).most, 1);
}

TEST(MeasuringCost, ANumberOfProcessesThatCannotBeIsLimited) {
  const std::map<std::string, std::string> properties = {{kRunCost, "events=1 unknown=1e300"}};
  EXPECT_EQ(measuring_cost_of(properties)->unknown_processes(), 1'000'000'000u);
  CostSum sum;
  sum.add({.events = 10, .event = 1});
  sum.add_unknown();
  EXPECT_EQ(sum.sum()->unknown_processes(), 1u);
}

}  // namespace
}  // namespace timeloom
