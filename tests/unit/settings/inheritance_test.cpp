#include "settings/inheritance.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/checksum.hpp"
#include "core/error.hpp"

namespace timeloom {
namespace {

using namespace std::string_literals;

Inheritance example() {
  Inheritance result;
  result.settings.set(kSettings.include, "b", "");
  result.settings.set(kSettings.exclude, "a,c", "");
  result.settings.set(kSettings.include, "d=e", "");
  result.settings.set(kSettings.output, "new\nline, \xff=\"", "");
  result.settings.set(kSettings.metric_papi_sep, ",", "");
  result.settings.set(kSettings.buffer_size, "3M", "");
  result.settings.set(kSettings.weave, "off", "");
  result.program.start_ns = UINT64_MAX;
  result.program.description.properties = {{"timeloom::layout", "scorep"}, {"empty", ""}};
  result.program.description.executable = "/a b/c";
  result.program.description.system_clock = true;
  result.program.filter = {"/f\n", "SCOREP\0\xff\n"s};
  return result;
}

TEST(Inheritance, KeepsEverything) {
  const Inheritance before = example();
  const Inheritance after = inheritance_of(as_text(before));
  EXPECT_EQ(as_text(after), as_text(before));
  EXPECT_EQ(after.settings.as_variables(), before.settings.as_variables());
  EXPECT_EQ(after.settings.rules(), before.settings.rules());
  EXPECT_EQ(after.settings.text(kSettings.output), "new\nline, \xff=\"");
  EXPECT_EQ(after.program.start_ns, UINT64_MAX);
  EXPECT_EQ(after.program.description.properties, before.program.description.properties);
  EXPECT_EQ(after.program.description.executable, "/a b/c");
  EXPECT_TRUE(after.program.description.system_clock);
  EXPECT_EQ(after.program.filter.path, "/f\n");
  EXPECT_EQ(after.program.filter.text, "SCOREP\0\xff\n"s);
}

TEST(Inheritance, EverySettingGoesThrough) {
  for (const Setting& setting : all_settings()) {
    Inheritance one;
    std::string value(setting.choices.empty() ? "7" : setting.choices.back());
    if (setting.type == SettingType::kBool) value = setting.default_value == "on" ? "off" : "on";
    if (setting.type == SettingType::kSize) value = "64M";
    one.settings.set(setting, value, "");
    EXPECT_EQ(inheritance_of(as_text(one)).settings.as_variables(), one.settings.as_variables());
    EXPECT_NE(one.settings.as_variables(), Settings().as_variables()) << setting.name;
  }
}

TEST(Inheritance, ANulIsNoPartOfAValue) {
  EXPECT_THROW(Settings().set(kSettings.output, "a\0TIMELOOM_FOLLOW=all"s, "--output"), Error);
}

TEST(Inheritance, RefusesWhatItDoesNotMake) {
  for (const std::string& wrong :
       {"TIMELOOM_OUTPUT=a"s, "TIMELOOM_OUTPUT=\0"s, "TIMELOOM_NONE=1\0"s, "TIMELOOM_WEAVE\0"s,
        "PATH=/\0"s, "start=x\0"s, "start=99999999999999999999\0"s, "property=a\0"s, "\0"s,
        "TIMELOOM_WEAVE=maybe\0"s, "system-clock=off\0"s}) {
    EXPECT_THROW(inheritance_of(wrong), Error) << wrong;
  }
}

TEST(Inheritance, SurvivesATextThatWasCutOff) {
  const std::string whole = as_text(example());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      (void)inheritance_of(whole.substr(0, size));
    } catch (const Error&) {
      continue;
    }
  }
}

TEST(Inheritance, GoesThroughAFile) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / ("inheritance." + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  const std::string path = directory / "settings";
  save(example(), directory);
  EXPECT_EQ(as_text(load_inheritance(directory)), as_text(example()));
  EXPECT_THROW(load_inheritance(directory / "missing"), Error);
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);  // holes
  EXPECT_THROW(load_inheritance(directory), Error);
  EXPECT_THROW(save(example(), directory / "missing"), Error);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_THROW(load_inheritance(directory), Error);
  EXPECT_THROW(save(example(), directory), Error);
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(load_inheritance(directory), Error);
  std::filesystem::remove_all(directory);
}

// An attacker who may write into the run replaces the file by a link to a file of the user.
TEST(Inheritance, GoesToNoOtherFile) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / ("links." + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  const std::filesystem::path path = directory / "settings", victim = directory / "victim";
  std::ofstream(victim) << "text";
  for (const bool hard : {true, false}) {
    std::filesystem::remove(path);
    hard ? std::filesystem::create_hard_link(victim, path)
         : std::filesystem::create_symlink(victim, path);
    save(example(), directory);
    EXPECT_EQ(std::filesystem::file_size(victim), 4u);
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path)));
    EXPECT_EQ(as_text(load_inheritance(directory)), as_text(example()));
  }
  std::filesystem::remove(path);
  std::filesystem::create_symlink(victim, path);
  EXPECT_THROW(load_inheritance(directory), Error);
  std::filesystem::remove_all(directory);
}

TEST(Inheritance, OfAnotherVersionIsRefused) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / ("versions." + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  const std::string path = directory / "settings";
  for (const std::string& records : {"version=9.8.7\0start=1\0"s, "start=1\0"s, ""s}) {
    const auto* bytes = reinterpret_cast<const std::byte*>(records.data());
    std::ofstream(path, std::ios::binary)
        << "check=" << checksum(bytes, records.size()) << '\0' << records;
    try {
      (void)load_inheritance(directory);
      ADD_FAILURE() << records;
    } catch (const Error& error) {
      const std::string version = records.starts_with("version") ? "9.8.7," : "of another version,";
      const std::string text = error.what();
      EXPECT_NE(text.find("recorded by Timeloom " + version), std::string::npos) << text;
    }
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace timeloom
