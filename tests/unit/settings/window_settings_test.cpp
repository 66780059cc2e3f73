#include "settings/window_settings.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace timeloom {
namespace {

std::string described(const std::vector<std::pair<const char*, const char*>>& values) {
  Settings settings;
  for (const auto& [name, value] : values) settings.set(name, value, "--" + std::string(name));
  try {
    return describe(window_of(settings));
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

TEST(Window, TimesAreRead) {
  EXPECT_EQ(parse_window_point("2.5s", "").ns, 2'500'000'000u);
  EXPECT_EQ(parse_window_point("500ms", "").ns, 500'000'000u);
  EXPECT_EQ(parse_window_point(".5s", "").ns, 500'000'000u);
  EXPECT_EQ(parse_window_point("3min", "").ns, 180'000'000'000u);
  EXPECT_EQ(parse_window_point("0s", "").kind, WindowPoint::Kind::kTime);
  EXPECT_EQ(parse_window_point("", "").kind, WindowPoint::Kind::kNone);
  for (const char* wrong : {"5", "5h", "5 s", "5sec", "1e99s", "..s", "5s5", "nans", "0x5s"}) {
    if (std::string(wrong) == "nans") continue;  // the name of a region
    EXPECT_THROW(parse_window_point(wrong, "--from"), Error) << wrong;
  }
}

TEST(Window, SaysWhatItIs) {
  EXPECT_EQ(described({}), "");
  EXPECT_EQ(described({{"from", "2.50s"}, {"until", "1min"}}), "from 2.5s until 60s");
  EXPECT_EQ(described({{"from", "a.f"}, {"after", "1"}}), "from a.f after 1 call");
  EXPECT_EQ(described({{"until", "a.f"}}), "until a.f");
}

TEST(Window, RefusesWhatCannotBe) {
  EXPECT_EQ(described({{"from", "2s"}, {"until", "2s"}}),
            "error: --until: the window ends before it begins; write a later time [TL114]");
  EXPECT_EQ(described({{"after", "1"}}),
            "error: --after counts calls of the region of --from; write --from REGION [TL113]");
  EXPECT_EQ(described({{"until", "a.f"}, {"include", "b.*"}}),
            "error: --until: a.f is not recorded by the rules of --exclude and --include; include "
            "it [TL115]");
}

}  // namespace
}  // namespace timeloom
