#include "settings/check.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/error.hpp"

namespace timeloom {
namespace {

using Values = std::vector<std::pair<const char*, const char*>>;

// The message of the Error; empty if the settings are accepted.
std::string error_of(const Values& values, Measured measured) {
  Settings settings;
  for (const auto& [name, value] : values) settings.set(name, value, "<" + std::string(name) + ">");
  try {
    check(settings, measured);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Check, AcceptsDefaults) {
  EXPECT_EQ(error_of({}, Measured::kProgram), "");
  EXPECT_EQ(error_of({}, Measured::kBlock), "");
}

TEST(Check, TasksNeedATrace) {
  EXPECT_EQ(
      error_of({{"async-tasks", "on"}, {"profile", "on"}}, Measured::kProgram),
      "<async-tasks>: tasks are told apart in a trace only; leave it out, or <profile> [TL113]");
  EXPECT_EQ(error_of({{"async-tasks", "on"}, {"at-max-size", "profile"}}, Measured::kBlock),
            "<async-tasks>: tasks are told apart in a trace only; leave it out, or "
            "<at-max-size>=profile [TL113]");
  EXPECT_EQ(error_of({{"async-tasks", "on"}, {"at-max-size", "ring"}}, Measured::kProgram), "");
  EXPECT_EQ(error_of({{"async-tasks", "off"}, {"profile", "on"}}, Measured::kProgram), "");
}

TEST(Check, WorkersAreANumberOrAPattern) {
  for (const char* right : {"all", "none", "0", "12", "1000000000", "tcp://10.*", "gw1", "1-2x"}) {
    EXPECT_EQ(error_of({{"workers", right}}, Measured::kProgram), "") << right;
  }
  for (const char* wrong : {"-1", "+2", "2.5", "1000000001", "99999999999999999999", "."}) {
    EXPECT_EQ(error_of({{"workers", wrong}}, Measured::kProgram),
              "<workers>: '" + std::string(wrong) +
                  "' is not accepted; write a number of workers, a pattern of their names such as "
                  "'tcp://10.*', all or none [TL477]");
  }
}

TEST(Check, TheOverheadIsAPercentage) {
  for (const char* right : {"5%", "0.01%", "12.5 %", "99.9%"}) {
    EXPECT_EQ(error_of({{"overhead", right}}, Measured::kProgram), "") << right;
  }
  for (const char* wrong : {"5", "0%", "-1%", "100%", "nan%", "inf%", "%", "5%%", "5 % ", "x"}) {
    EXPECT_EQ(error_of({{"overhead", wrong}}, Measured::kProgram),
              "<overhead>: '" + std::string(wrong) +
                  "' is not accepted; write a percentage between 0 and 100, such as 5% [TL101]");
  }
}

TEST(Check, TheOverheadIsThatOfPythonCallsAlone) {
  EXPECT_EQ(error_of({{"overhead", "5%"}, {"c-functions", "on"}}, Measured::kProgram),
            "<overhead> cannot be kept with <c-functions>; leave one of them out [TL113]");
  EXPECT_EQ(error_of({{"overhead", "5%"}, {"async-tasks", "on"}}, Measured::kBlock),
            "<overhead> cannot be kept with <async-tasks>; leave one of them out [TL113]");
}

TEST(Check, TheOverheadIsThatOfFunctionsWhateverTheirArguments) {
  const Values labels{{"region-names", "omnitrace"}, {"label", "line,args"}};
  EXPECT_EQ(error_of(labels, Measured::kProgram), "");
  Values limited = labels;
  limited.emplace_back("overhead", "5%");
  EXPECT_EQ(error_of(limited, Measured::kProgram),
            "<overhead> cannot be kept with the arguments of calls in <label>; leave one of them "
            "out [TL113]");
  limited[1].second = "line";
  EXPECT_EQ(error_of(limited, Measured::kProgram), "");
  limited[0].second = "scorep";
  limited[1].second = "args";
  EXPECT_EQ(error_of(limited, Measured::kProgram), "");
}

TEST(Check, WindowsAreChecked) {
  EXPECT_EQ(error_of({{"from", "2s"}, {"until", "1s"}}, Measured::kBlock),
            "<until>: the window ends before it begins; write a later time [TL114]");
  EXPECT_EQ(error_of({{"after", "1"}}, Measured::kBlock),
            "<after> counts calls of the region of --from; write --from REGION [TL113]");
}

TEST(Check, ABlockIsThereToBeRecorded) {
  EXPECT_EQ(error_of({{"results", "none"}}, Measured::kProgram), "");
  EXPECT_EQ(error_of({{"results", "none"}}, Measured::kBlock),
            "<results>: with none nothing is recorded; write all, trace or profile [TL113]");
}

}  // namespace
}  // namespace timeloom
