#include "settings/settings.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "settings/settings_text.hpp"

namespace timeloom {
namespace {

// The message of the Error that `action` throws; empty if it throws none.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::string set_error(const char* name, const char* value) {
  return error_of([&] { Settings().set(name, value, "--" + std::string(name)); });
}

TEST(Settings, HaveTheDefaultsOfTheTable) {
  const Settings settings;
  EXPECT_EQ(settings.text(kSettings.instrumenter), "auto");
  EXPECT_EQ(settings.number(kSettings.buffer_size), 4u << 20);
  EXPECT_FALSE(settings.flag(kSettings.c_functions));
  EXPECT_TRUE(settings.flag(kSettings.weave));
  EXPECT_EQ(settings.text(kSettings.output), "");
  EXPECT_TRUE(settings.rules().empty());
}

TEST(Settings, EveryDefaultIsAccepted) {
  for (const Setting& setting : all_settings()) {
    if (!setting.default_value.empty()) {
      EXPECT_NO_THROW(Settings().set(setting, setting.default_value, "default")) << setting.name;
    }
  }
}

TEST(Settings, LaterValuesReplaceEarlierOnes) {
  Settings settings;
  settings.set(kSettings.instrumenter, "frame", "a");
  settings.set(kSettings.instrumenter, "trace", "b");
  EXPECT_EQ(settings.text(kSettings.instrumenter), "trace");
}

TEST(Settings, RulesKeepTheirOrder) {
  Settings settings;
  settings.set(kSettings.exclude, "a.*, b.*", "");
  settings.set(kSettings.include, "b.c", "");
  settings.set(kSettings.exclude, "d", "");
  const std::vector<FilterRule> expected = {
      {false, "a.*"}, {false, "b.*"}, {true, "b.c"}, {false, "d"}};
  EXPECT_EQ(settings.rules(), expected);
  EXPECT_EQ(settings.list(kSettings.exclude), (std::vector<std::string>{"a.*", "b.*", "d"}));
}

TEST(Settings, SwitchesTakeSeveralWords) {
  for (const char* word : {"on", "1", "true", "YES"}) {
    Settings settings;
    settings.set(kSettings.force, word, "");
    EXPECT_TRUE(settings.flag(kSettings.force)) << word;
  }
  for (const char* word : {"off", "0", "False", "no"}) {
    Settings settings;
    settings.set(kSettings.weave, word, "");
    EXPECT_FALSE(settings.flag(kSettings.weave)) << word;
  }
}

TEST(Settings, SayWhatIsWrongAndWhatIsAccepted) {
  EXPECT_EQ(set_error("instrumenter", "fram"),
            "--instrumenter: 'fram' is not accepted; write one of auto, monitoring, frame, "
            "profile, trace, dummy [TL101]");
  EXPECT_EQ(set_error("weave", "maybe"),
            "--weave: 'maybe' is not accepted; write on or off [TL101]");
  EXPECT_EQ(set_error("output", ""), "--output is empty; give a value or leave it out [TL102]");
  EXPECT_EQ(set_error("buffersize", "1M"),
            "--buffersize: no such setting; did you mean buffer-size? [TL104]");
  EXPECT_EQ(set_error("xyzzy", "1"), "--xyzzy: no such setting; see timeloom run --help [TL104]");
  EXPECT_EQ(set_error("buffer-size", "1K"),
            "--buffer-size: '1K' is not accepted; write a value from 1M to 1T [TL101]");
}

template <typename Member>
constexpr bool has_flag = requires(const Settings& settings, Member member) {
  settings.flag(member);
};

TEST(Settings, OfAnotherTypeDoNotCompile) {
  EXPECT_TRUE(has_flag<decltype(kSettings.weave)>);
  EXPECT_FALSE(has_flag<decltype(kSettings.output)>);
  EXPECT_FALSE(has_flag<const char*>);
}

TEST(Settings, AreFoundByNameAndByMember) {
  for (const Setting& setting : all_settings()) EXPECT_EQ(find_setting(setting.name), &setting);
  EXPECT_EQ(&setting_of(kSettings.buffer_size), find_setting("buffer-size"));
}

TEST(Sizes, AreBytesWithUnits) {
  EXPECT_EQ(parse_size("4096", ""), 4096u);
  EXPECT_EQ(parse_size("16M", ""), 16u << 20);
  EXPECT_EQ(parse_size("1 GiB", ""), 1u << 30);
  EXPECT_EQ(parse_size("2kb", ""), 2048u);
  for (const char* wrong :
       {"", "M", "-1", "1.5M", "1X", "1MM", "99999999999T", "18446744073709551616"}) {
    EXPECT_THROW(parse_size(wrong, "x"), Error) << wrong;
  }
}

TEST(Variables, AreReadInTheOrderOfTheTable) {
  Settings settings;
  const char* const environment[] = {"TIMELOOM_INCLUDE=a.b",   "PATH=/bin",
                                     "TIMELOOM_EXCLUDE=a.*,c", "TIMELOOM_C_FUNCTIONS=on",
                                     "TIMELOOM_OUTPUT=",       nullptr};
  read_variables(settings, environment);
  const std::vector<FilterRule> expected = {{false, "a.*"}, {false, "c"}, {true, "a.b"}};
  EXPECT_EQ(settings.rules(), expected);
  EXPECT_TRUE(settings.flag(kSettings.c_functions));
  EXPECT_EQ(settings.text(kSettings.output), "");
}

TEST(Variables, ThatAreMisspeltAreSaid) {
  Settings settings;
  const char* const environment[] = {
      "TIMELOOM_INSTRUMENTR=frame", "TIMELOOM_PYTHON=x", "TIMELOOM_PYTHONS=x", "TIMELOOM_ROOT=/opt",
      "TIMELOOM_PROGRAM=x",         "TIMELOOM_FORCE=on", "TIMELOOM_OUTPTU=d",  nullptr};
  const std::vector<std::string> expected = {
      "TIMELOOM_INSTRUMENTR is not a setting; did you mean TIMELOOM_INSTRUMENTER? [TL104]",
      "TIMELOOM_OUTPTU is not a setting; did you mean TIMELOOM_OUTPUT? [TL104]"};
  EXPECT_EQ(read_variables(settings, environment), expected);
  EXPECT_TRUE(settings.flag(kSettings.force));
  EXPECT_EQ(settings.text(kSettings.instrumenter), "auto");
}

TEST(Variables, WithAWrongValueAreRefused) {
  Settings settings;
  const char* const environment[] = {"TIMELOOM_BUFFER_SIZE=x", nullptr};
  EXPECT_EQ(error_of([&] { read_variables(settings, environment); }),
            "variable TIMELOOM_BUFFER_SIZE: 'x' is not accepted; write a size such as 1M, 16M or "
            "2G [TL101]");
}

TEST(Variables, CarryAllSettings) {
  Settings settings;
  settings.set(kSettings.exclude, "a", "");
  settings.set(kSettings.buffer_size, "2M", "");
  const std::string text = settings.as_variables();
  EXPECT_NE(text.find("TIMELOOM_EXCLUDE=a\n"), std::string::npos);
  EXPECT_NE(text.find("TIMELOOM_BUFFER_SIZE=2097152\n"), std::string::npos);
  EXPECT_NE(text.find("TIMELOOM_WEAVE=on\n"), std::string::npos);
}

TEST(Texts, NameEverySetting) {
  const std::string help = run_help(HelpDetail::kAll);
  const std::string names = run_help(HelpDetail::kNames);
  const std::string page = settings_page();
  for (const Setting& setting : all_settings()) {
    EXPECT_NE(help.find(std::string(setting.name)), std::string::npos) << setting.name;
    EXPECT_NE(names.find("-" + std::string(setting.name)), std::string::npos) << setting.name;
    EXPECT_NE(page.find("`" + variable_of(setting) + "`"), std::string::npos) << setting.name;
  }
}

TEST(Texts, HelpFitsATerminal) {
  std::size_t begin = 0;
  const std::string help = run_help(HelpDetail::kNames) + run_help(HelpDetail::kAll);
  while (begin < help.size()) {
    const std::size_t end = help.find('\n', begin);
    EXPECT_LE(end - begin, 80u) << help.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Nearest, IsSaidOnlyWhenNear) {
  EXPECT_EQ(nearest_setting("instrumentor"), "instrumenter");
  EXPECT_EQ(nearest_setting("qiuet"), "quiet");
  EXPECT_EQ(nearest_setting("instr"), "instrumenter");
  EXPECT_EQ(nearest_setting("zzz"), "");
}

}  // namespace
}  // namespace timeloom
