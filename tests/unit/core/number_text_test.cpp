#include "core/text/number_text.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>

namespace timeloom {
namespace {

TEST(NumberText, HasTheDigitsAskedFor) {
  EXPECT_EQ(fixed_text(0, 1), "0.0");
  EXPECT_EQ(fixed_text(-1.25, 1), "-1.2");
  EXPECT_EQ(fixed_text(1234.5678, 3), "1234.568");
  EXPECT_EQ(fixed_text(7, 0), "7");
  EXPECT_EQ(fixed_text(1e300, 3).size(), 301 + 4);
}

TEST(NumberText, HasAnExponentWhereSixDigitsAreNotEnough) {
  EXPECT_EQ(general_text(0), "0");
  EXPECT_EQ(general_text(51.25), "51.25");
  EXPECT_EQ(general_text(123456789), "1.23457e+08");
  EXPECT_EQ(general_text(1e-9), "1e-09");
}

TEST(NumberText, IsTextForWhatIsNoNumber) {
  EXPECT_EQ(fixed_text(std::numeric_limits<double>::infinity(), 1), "inf");
  EXPECT_EQ(general_text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(general_text(std::numeric_limits<double>::quiet_NaN()), "nan");
}

// Locales of Debian and Fedora with a comma, or with a point of several bytes; skipped where the
// machine has none of them.
TEST(NumberText, HasAPointInEveryLocale) {
  int tried = 0;
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF", "fa_IR"}) {
    if (std::setlocale(LC_NUMERIC, name) == nullptr) continue;
    ++tried;
    EXPECT_EQ(fixed_text(1234.5, 2), "1234.50") << name;
    EXPECT_EQ(general_text(1.5e-7), "1.5e-07") << name;
  }
  std::setlocale(LC_NUMERIC, "C");
  if (tried == 0) GTEST_SKIP() << "this system has none of them";
}

}  // namespace
}  // namespace timeloom
