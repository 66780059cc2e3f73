#include "core/filter.hpp"

#include <gtest/gtest.h>

namespace timeloom {
namespace {

FilterRule include(const char* pattern) { return {true, pattern}; }
FilterRule exclude(const char* pattern) { return {false, pattern}; }

TEST(Filter, WithoutRulesRecordsEverything) {
  EXPECT_FALSE(Filter().excluded("a.f", "/a.py"));
  EXPECT_TRUE(Filter().empty());
}

TEST(Filter, LastMatchingRuleDecides) {
  const Filter filter({exclude("numpy.*"), include("numpy.linalg.*"), exclude("*.norm")});
  EXPECT_TRUE(filter.excluded("numpy.array", ""));
  EXPECT_FALSE(filter.excluded("numpy.linalg.solve", ""));
  EXPECT_TRUE(filter.excluded("numpy.linalg.norm", ""));
  EXPECT_FALSE(filter.excluded("app.main", ""));
}

TEST(Filter, IncludeAsFirstRuleExcludesTheRest) {
  const Filter filter({include("app.*"), exclude("app.test*")});
  EXPECT_FALSE(filter.excluded("app.main", ""));
  EXPECT_TRUE(filter.excluded("app.tests.f", ""));
  EXPECT_TRUE(filter.excluded("json.loads", ""));
}

TEST(Filter, PatternWithASlashIsForTheFile) {
  const Filter filter({exclude("/usr/lib/*"), exclude("tests/*"), exclude("*/generated.py")});
  EXPECT_TRUE(filter.excluded("a.f", "/usr/lib/python3/a.py"));
  EXPECT_FALSE(filter.excluded("a.f", "/opt/usr/lib/a.py"));
  EXPECT_TRUE(filter.excluded("a.f", "/home/me/tests/deep/a.py"));
  EXPECT_TRUE(filter.excluded("a.f", "tests/a.py"));
  EXPECT_FALSE(filter.excluded("a.f", "/home/me/mytests/a.py"));
  EXPECT_TRUE(filter.excluded("a.f", "/x/generated.py"));
  EXPECT_FALSE(filter.excluded("tests.f", "/x/a.py"));
}

TEST(Filter, SpecialNamesMatchLiterallyAndByPattern) {
  const Filter filter(
      {exclude("app.<module>"), exclude("*.<locals>.<lambda>"), exclude("m.f[0-3]")});
  EXPECT_TRUE(filter.excluded("app.<module>", ""));
  EXPECT_TRUE(filter.excluded("app.f.<locals>.<lambda>", ""));
  EXPECT_TRUE(filter.excluded("m.f2", ""));
  EXPECT_FALSE(filter.excluded("m.f4", ""));
}

}  // namespace
}  // namespace timeloom
