// Waiting that is spread over a stretch of time.

#include "view/index/waited.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace timeloom::view {
namespace {

TEST(Waited, OfOneCauseIsSpreadEvenly) {
  for (std::uint32_t cause = 0; cause < kWaitingCauses; ++cause) {
    Waited waited{100, 110, {}};
    waited.ticks[cause] = 7;
    for (std::uint64_t to = 100; to <= 110; ++to) {
      EXPECT_EQ(waited.in(0, to)[cause], 7 * (to - 100) / 10);
      EXPECT_EQ(total(waited.in(to, 200)), 7 - 7 * (to - 100) / 10);
    }
  }
}

TEST(Waited, OfTwoEqualCausesTakesTurns) {
  const Waited waited{0, 4, {2, 2}};
  std::vector<CauseTicks> ticks;
  for (std::uint64_t time = 0; time < 4; ++time) ticks.push_back(waited.in(time, time + 1));
  EXPECT_EQ(ticks, (std::vector<CauseTicks>{{0, 1}, {1, 0}, {0, 1}, {1, 0}}));
}

// Causes that are rounded each for itself would give some parts more waiting than ticks.
TEST(Waited, IsNeverLongerThanItsPartAndAddsUp) {
  std::mt19937_64 random(1);
  for (unsigned tries = 0; tries < 2000; ++tries) {
    Waited waited{random() % 1000, 0, {}};
    waited.end = waited.begin + 1 + random() % (tries % 2 == 0 ? 40 : std::uint64_t{1} << 52);
    std::uint64_t left = waited.end - waited.begin;
    for (std::uint64_t& ticks : waited.ticks) {
      ticks = random() % 3 == 0 ? random() % (left + 1) : 0;
      left -= ticks;
    }
    if (tries % 5 == 0) waited.ticks[random() % kWaitingCauses] += left;  // no tick of work
    CauseTicks sum{};
    for (std::uint64_t at = waited.begin; at < waited.end;) {
      const std::uint64_t to = std::min(waited.end, at + 1 + random() % (waited.end - at));
      const CauseTicks part = waited.in(at, to);
      for (const std::uint64_t ticks : part) ASSERT_LE(ticks, to - at);
      ASSERT_LE(total(part), to - at);
      CauseTicks halves = waited.in(at, at + (to - at) / 2);
      add_causes(halves, waited.in(at + (to - at) / 2, to));
      ASSERT_EQ(halves, part);
      add_causes(sum, part);
      at = to;
    }
    ASSERT_EQ(sum, waited.ticks);
  }
}

}  // namespace
}  // namespace timeloom::view
