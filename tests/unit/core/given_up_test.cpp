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

TEST(GivenUp, NothingIsSaidOfARunWithoutTheProperty) {
  const GivenUp given_up(std::map<std::string, std::string>{{"timeloom::python", "3.12"}});
  EXPECT_FALSE(given_up.any());
  EXPECT_FALSE(given_up.holds(region("", "", 0)));
}

}  // namespace
}  // namespace timeloom
