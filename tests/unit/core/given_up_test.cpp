#include "core/given_up.hpp"

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

TEST(GivenUp, IdsAreReadBack) {
  EXPECT_EQ(ids_text({7, 0, 4294967295}), "7 0 4294967295");
  EXPECT_EQ(ids_of("7 0 4294967295"), (std::vector<std::uint32_t>{7, 0, 4294967295}));
  EXPECT_EQ(ids_of(""), std::vector<std::uint32_t>{});
}

TEST(GivenUp, IdsEndWhereThereIsNoNumber) {
  for (const char* text : {"7 x", "7,8", "7  8", "7 4294967296", "7 -1"}) {
    EXPECT_EQ(ids_of(text), std::vector<std::uint32_t>{7}) << text;
  }
}

TEST(GivenUp, RegionsAreFoundByNameAndPlace) {
  const Region f = region("m.f", "m.py", 3), g = region("m.g", "a | b.py", 9);
  const Region h = region("m.\nh", "", 0);
  const GivenUp given_up({{kGivenUp, given_up_text({&g, &f, &h})}});
  EXPECT_EQ(given_up.entries(),
            (std::set<std::string>{"m._h (:0)", "m.f (m.py:3)", "m.g (a_| b.py:9)"}));
  for (const Region& one : {f, g, h}) EXPECT_TRUE(given_up.holds(one)) << one.name;
  EXPECT_FALSE(given_up.holds(region("m.f", "m.py", 4)));
  EXPECT_FALSE(given_up.holds(region("m.f", "n.py", 3)));
}

TEST(GivenUp, RegionsThatAreCutShortAreNotGivenUp) {
  const Region f = region("m.f", "m.py", 3), g = region("m.g", "m.py", 9);
  const GivenUp given_up({{kGivenUp, given_up_text({&f})}, {kCutShort, given_up_text({&g})}});
  EXPECT_EQ(given_up.cut_short(), std::set<std::string>{"m.g (m.py:9)"});
  EXPECT_TRUE(given_up.holds(f) && given_up.cuts_short(g));
  EXPECT_FALSE(given_up.holds(g) || given_up.cuts_short(f));
}

TEST(GivenUp, CpuTimesAreReadBack) {
  const ObservedCpu read = observed_cpu_of(to_text({.seen_ns = 7, .all_ns = 28}));
  EXPECT_EQ(read.seen_ns, 7u);
  EXPECT_EQ(read.all_ns, 28u);
  EXPECT_EQ(share_of(read), 0.25);
  for (const char* text : {"", "7", "7 ", "7 x", "28 7", "7 28 ", "-7 28", "7  28"}) {
    EXPECT_EQ(observed_cpu_of(text).all_ns, 0u) << text;
  }
}

TEST(GivenUp, TheShareIsThatOfAllProcesses) {
  EXPECT_EQ(observed_share_text({}), "");
  EXPECT_EQ(observed_share_text({{5, 5}, {7, 7}}), "");
  EXPECT_EQ(observed_share_text({{5, 15}, {5, 5}}), "0.500000");
  EXPECT_EQ(observed_share_text({{5, 15}, {}}), "unknown");
}

TEST(GivenUp, AllFunctionsAreWhereTheInstrumenterRested) {
  Region function = region("m.f", "m.py", 3), block = region("part", "m.py", 4);
  function.paradigm = Paradigm::kCompiler;
  block.paradigm = Paradigm::kUser;
  for (const char* share : {"0.25", "unknown", "nan", "2", "-1", ""}) {
    const GivenUp given_up(std::map<std::string, std::string>{{kObservedShare, share}});
    EXPECT_TRUE(given_up.any() && given_up.rested());
    EXPECT_TRUE(given_up.holds(function));
    EXPECT_FALSE(given_up.names(function));
    EXPECT_FALSE(given_up.holds(block));
    EXPECT_EQ(given_up.observed_share().value_or(-1), std::string(share) == "0.25" ? 0.25 : -1);
  }
  EXPECT_EQ(seen_text(0.314), "functions seen for 31 % of the CPU time");
  EXPECT_EQ(seen_text(0.001), "functions seen for less than 1 % of the CPU time");
  EXPECT_EQ(seen_text(std::nullopt), "functions not seen all the time");
}

TEST(GivenUp, NothingIsSaidOfARunWithoutTheProperty) {
  const GivenUp given_up(std::map<std::string, std::string>{{"timeloom::python", "3.12"}});
  EXPECT_FALSE(given_up.any());
  EXPECT_FALSE(given_up.holds(region("", "", 0)));
}

}  // namespace
}  // namespace timeloom
