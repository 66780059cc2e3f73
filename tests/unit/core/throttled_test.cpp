#include "core/throttled.hpp"

#include <gtest/gtest.h>

namespace timeloom {
namespace {

Region region(const char* name, const char* file, std::uint32_t line) {
  Region one;
  one.name = name;
  one.file = file;
  one.first_line = line;
  return one;
}

TEST(ThrottledFunctions, IdsAreReadBack) {
  EXPECT_EQ(ids_text({7, 0, 4294967295}), "7 0 4294967295");
  EXPECT_EQ(ids_of("7 0 4294967295"), (std::vector<std::uint32_t>{7, 0, 4294967295}));
  EXPECT_EQ(ids_of(""), std::vector<std::uint32_t>{});
}

TEST(ThrottledFunctions, IdsEndWhereThereIsNoNumber) {
  for (const char* text : {"7 x", "7,8", "7  8", "7 4294967296", "7 -1"}) {
    EXPECT_EQ(ids_of(text), std::vector<std::uint32_t>{7}) << text;
  }
}

TEST(ThrottledFunctions, RegionsAreFoundByNameAndPlace) {
  const Region f = region("m.f", "m.py", 3), g = region("m.g", "a | b.py", 9);
  const Region h = region("m.\nh", "", 0);
  const ThrottledFunctions throttled({{kThrottled, throttled_text({&g, &f, &h})}});
  EXPECT_EQ(throttled.entries(),
            (std::set<std::string>{"m._h (:0)", "m.f (m.py:3)", "m.g (a_| b.py:9)"}));
  for (const Region& one : {f, g, h}) EXPECT_TRUE(throttled.holds(one)) << one.name;
  EXPECT_FALSE(throttled.holds(region("m.f", "m.py", 4)));
  EXPECT_FALSE(throttled.holds(region("m.f", "n.py", 3)));
}

TEST(ThrottledFunctions, RegionsThatAreCutShortAreNotGivenUp) {
  const Region f = region("m.f", "m.py", 3), g = region("m.g", "m.py", 9);
  const ThrottledFunctions throttled(
      {{kThrottled, throttled_text({&f})}, {kTruncated, throttled_text({&g})}});
  EXPECT_EQ(throttled.truncated(), std::set<std::string>{"m.g (m.py:9)"});
  EXPECT_TRUE(throttled.holds(f) && throttled.truncates(g));
  EXPECT_FALSE(throttled.holds(g) || throttled.truncates(f));
}

TEST(ThrottledFunctions, CpuTimesAreReadBack) {
  const ObservedCpu read = observed_cpu_of(to_text({.seen_ns = 7, .all_ns = 28}));
  EXPECT_EQ(read.seen_ns, 7u);
  EXPECT_EQ(read.all_ns, 28u);
  EXPECT_EQ(share_of(read), 0.25);
  for (const char* text : {"", "7", "7 ", "7 x", "28 7", "7 28 ", "-7 28", "7  28"}) {
    EXPECT_EQ(observed_cpu_of(text).all_ns, 0u) << text;
  }
}

TEST(ThrottledFunctions, TheShareIsThatOfAllProcesses) {
  EXPECT_EQ(observed_share_text({}), "");
  EXPECT_EQ(observed_share_text({{5, 5}, {7, 7}}), "");
  EXPECT_EQ(observed_share_text({{5, 15}, {5, 5}}), "0.500000");
  EXPECT_EQ(observed_share_text({{5, 15}, {}}), "unknown");
}

TEST(ThrottledFunctions, AllFunctionsAreWhereTheInstrumenterRested) {
  Region function = region("m.f", "m.py", 3), block = region("part", "m.py", 4);
  function.paradigm = Paradigm::kCompiler;
  block.paradigm = Paradigm::kUser;
  for (const char* share : {"0.25", "unknown", "nan", "2", "-1", ""}) {
    const ThrottledFunctions throttled(std::map<std::string, std::string>{{kObservedShare, share}});
    EXPECT_TRUE(throttled.any() && throttled.was_paused());
    EXPECT_TRUE(throttled.holds(function));
    EXPECT_FALSE(throttled.names(function));
    EXPECT_FALSE(throttled.holds(block));
    EXPECT_EQ(throttled.observed_share().value_or(-1), std::string(share) == "0.25" ? 0.25 : -1);
  }
  EXPECT_EQ(seen_text(0.314), "functions seen for 31 % of the CPU time");
  EXPECT_EQ(seen_text(0.001), "functions seen for less than 1 % of the CPU time");
  EXPECT_EQ(seen_text(std::nullopt), "functions not seen all the time");
}

TEST(ThrottledFunctions, NothingIsSaidOfARunWithoutTheProperty) {
  const ThrottledFunctions throttled(
      std::map<std::string, std::string>{{"timeloom::python", "3.12"}});
  EXPECT_FALSE(throttled.any());
  EXPECT_FALSE(throttled.holds(region("", "", 0)));
}

}  // namespace
}  // namespace timeloom
