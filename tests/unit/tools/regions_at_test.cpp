// Places such as "shop.py:12", and the regions that are there.

#include "tools/report/source/regions_at.hpp"

#include <gtest/gtest.h>

namespace timeloom::tools {
namespace {

Region region_of(const char* name, const char* file, std::uint32_t first, std::uint32_t last) {
  Region region;
  region.name = name;
  region.file = file;
  region.first_line = first;
  region.last_line = last;
  return region;
}

std::string names_at(const std::string& place) {
  Definitions definitions;
  definitions.regions = {
      region_of("module", "/app/shop.py", 1, 90),
      region_of("outer", "/app/shop.py", 10, 40),
      region_of("inner", "/app/shop.py", 12, 20),
      region_of("first", "/app/other_shop.py", 12, 20),
      region_of("native", "/app/shop.c", 7, 0),
      region_of("same", "/lib/shop.py", 50, 60),
      region_of("nowhere", "", 0, 0),
  };
  std::string names;
  for (const RegionId id : regions_at(definitions, place)) {
    names += (names.empty() ? "" : " ") + definitions.regions[id.value()].name;
  }
  return names;
}

TEST(RegionsAt, TakesTheInnermostOfAFile) {
  EXPECT_EQ(names_at("/app/shop.py:5"), "module");
  EXPECT_EQ(names_at("/app/shop.py:10"), "outer");
  EXPECT_EQ(names_at("/app/shop.py:20"), "inner");
  EXPECT_EQ(names_at("/app/shop.py:21"), "outer");
  EXPECT_EQ(names_at("/app/shop.py:91"), "");
}

TEST(RegionsAt, TakesTheEndOfAPath) {
  EXPECT_EQ(names_at("shop.py:12"), "inner");
  EXPECT_EQ(names_at("app/shop.py:12"), "inner");
  EXPECT_EQ(names_at("p/shop.py:12"), "");
  EXPECT_EQ(names_at("other_shop.py:12"), "first");
  EXPECT_EQ(names_at("shop.py:50"), "same");
}

TEST(RegionsAt, TakesTheFirstLineWhereTheLastIsNotKnown) {
  EXPECT_EQ(names_at("shop.c:7"), "native");
  EXPECT_EQ(names_at("shop.c:8"), "");
}

TEST(RegionsAt, IgnoresWhatIsNotAPlace) {
  for (const char* text : {"", ":", "shop.py", "shop.py:", ":12", "shop.py:12x", "shop.py:-12",
                           "shop.py:99999999999", "shop.py:0"}) {
    EXPECT_EQ(names_at(text), "") << text;
  }
}

}  // namespace
}  // namespace timeloom::tools
