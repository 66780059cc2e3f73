#include "exchange/names.hpp"

#include <gtest/gtest.h>

namespace timeloom::exchange {
namespace {

std::uint64_t nanoseconds(std::uint64_t per_second, std::uint64_t ticks) {
  ClockProperties clock;
  clock.ticks_per_second = per_second;
  clock.begin = 100;
  return RunClock(clock)(Timestamp{ticks});
}

TEST(RunClock, counts_from_the_begin_of_the_run) {
  EXPECT_EQ(nanoseconds(1'000'000'000, 142), 42U);
  EXPECT_EQ(nanoseconds(1000, 103), 3'000'000U);
  EXPECT_EQ(nanoseconds(1'000'000'000, 99), 0U);  // other tools have events before the start
}

TEST(RunClock, neither_overflows_nor_loses_digits) {
  const std::uint64_t year = 31'536'000;
  EXPECT_EQ(nanoseconds(2'600'545'423, 100 + 2'600'545'423 * year + 2'600'545'423 / 2),
            year * 1'000'000'000 + 499'999'999);
  EXPECT_EQ(nanoseconds(1'000'000'000'000, 100 + 7'000'000'000'000'000), 7'000'000'000'000U);
  EXPECT_EQ(nanoseconds(100'000'000'000, 100 + 50), 0U);
  EXPECT_EQ(nanoseconds(0, 101), 1'000'000'000U);  // a clock without a rate
}

TEST(RunClock, finds_the_ticks_of_a_time) {
  ClockProperties clock;
  clock.begin = 7;
  for (const std::uint64_t rate : {1000U, 1'000'000'000U, 2'600'545'423U}) {
    clock.ticks_per_second = rate;
    EXPECT_EQ(ticks(RunClock(clock).at(3'000'000'000)), 7 + 3 * rate);
  }
}

TEST(Category, is_that_of_who_marked_the_region) {
  Region region;
  region.paradigm = Paradigm::kUser;
  EXPECT_EQ(category_of(region), Category::kUser);
  region.group = "module";  // as the Python bindings of Score-P define functions
  EXPECT_EQ(category_of(region), Category::kFunction);
  region.paradigm = Paradigm::kOther;
  EXPECT_EQ(name_of(category_of(region)), "other");
}

}  // namespace
}  // namespace timeloom::exchange
