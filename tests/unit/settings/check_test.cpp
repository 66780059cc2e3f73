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
  EXPECT_EQ(error_of({{"async-tasks", "on"}, {"profile", "on"}}, Measured::kProgram),
            "<async-tasks>: tasks are told apart in a trace only; leave it out, or <profile>");
  EXPECT_EQ(error_of({{"async-tasks", "on"}, {"at-max-size", "profile"}}, Measured::kBlock),
            "<async-tasks>: tasks are told apart in a trace only; leave it out, or "
            "<at-max-size>=profile");
  EXPECT_EQ(error_of({{"async-tasks", "on"}, {"at-max-size", "ring"}}, Measured::kProgram), "");
  EXPECT_EQ(error_of({{"async-tasks", "off"}, {"profile", "on"}}, Measured::kProgram), "");
}

TEST(Check, WindowsAreChecked) {
  EXPECT_EQ(error_of({{"from", "2s"}, {"until", "1s"}}, Measured::kBlock),
            "<until>: the window ends before it begins; write a later time");
  EXPECT_EQ(error_of({{"after", "1"}}, Measured::kBlock),
            "<after> counts calls of the region of --from; write --from REGION");
}

TEST(Check, ABlockIsThereToBeRecorded) {
  EXPECT_EQ(error_of({{"results", "none"}}, Measured::kProgram), "");
  EXPECT_EQ(error_of({{"results", "none"}}, Measured::kBlock),
            "<results>: with none nothing is recorded; write all, trace or profile");
}

}  // namespace
}  // namespace timeloom
