// The OMNITRACE_* variables: their texts, and configuration files.
#include "doors/omnitrace/settings/omnitrace_settings.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "doors/omnitrace/settings/omnitrace_choices.hpp"
#include "doors/omnitrace/settings/omnitrace_config.hpp"
#include "doors/omnitrace/settings/omnitrace_names.hpp"
#include "doors/omnitrace/settings/omnitrace_units.hpp"
#include "doors/omnitrace/settings/omnitrace_variables.hpp"
#include "doors/omnitrace/settings/omnitrace_xml.hpp"
#include "support/temp_directory.hpp"

namespace timeloom {
namespace {

using test::read;

std::string why(const std::vector<std::string>& entries) {
  try {
    read(entries);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(OmnitraceSettings, HaveTheDefaultsOfOmnitrace) {
  const OmnitraceSettings settings = read({});
  EXPECT_TRUE(settings.traces());
  EXPECT_FALSE(settings.profiles());
  EXPECT_EQ(settings.components(), std::vector<std::string>{"wall_clock"});
  EXPECT_EQ(settings.number("OMNITRACE_MAX_DEPTH"), 65535);
  EXPECT_EQ(settings.text("OMNITRACE_OUTPUT_PATH"), "omnitrace-%tag%-output");
  EXPECT_TRUE(settings.flag("OMNITRACE_TIME_OUTPUT"));
  EXPECT_FALSE(settings.given("OMNITRACE_TRACE"));
}

TEST(OmnitraceSettings, ATraceIsMadeUnlessAProfileIs) {
  const OmnitraceSettings profile = read({"OMNITRACE_PROFILE=ON"});
  EXPECT_TRUE(profile.profiles() && !profile.traces());
  const OmnitraceSettings both = read({"OMNITRACE_PROFILE=t", "OMNITRACE_TRACE=1"});
  EXPECT_TRUE(both.profiles() && both.traces());
  const OmnitraceSettings off = read({"OMNITRACE_TRACE=off"});
  EXPECT_TRUE(off.profiles() && !off.traces());
  const OmnitraceSettings none = read({"OMNITRACE_TRACE=no", "OMNITRACE_PROFILE=False"});
  EXPECT_FALSE(none.profiles() || none.traces());
}

TEST(OmnitraceSettings, HaveTwoSpellings) {
  EXPECT_TRUE(read({"ROCPROFSYS_PROFILE=ON"}).profiles());
  EXPECT_FALSE(read({"OMNITRACE_PROFILE=OFF", "ROCPROFSYS_PROFILE=ON"}).profiles());
  EXPECT_EQ(read({"ROCPROFSYS_MAX_DEPTH=3"}).number("OMNITRACE_MAX_DEPTH"), 3);
  const OmnitraceSettings old =
      read({"OMNITRACE_USE_TIMEMORY=ON", "OMNITRACE_OUTPUT_FILE=a.proto"});
  EXPECT_TRUE(old.profiles());
  EXPECT_EQ(old.text("OMNITRACE_PERFETTO_FILE"), "a.proto");
  EXPECT_EQ(old.notes(),
            (std::vector<std::string>{
                "OMNITRACE_USE_TIMEMORY is an old name of OMNITRACE_PROFILE [TL718]",
                "OMNITRACE_OUTPUT_FILE is an old name of OMNITRACE_PERFETTO_FILE [TL718]"}));
}

TEST(OmnitraceSettings, SayThatAVariableIsNotKnown) {
  const std::string unknown = ": no variable of this name has an effect here";
  EXPECT_EQ(
      read({"OMNITRACE_BOGUS=1", "OMNITRACE_ROOT=/opt", "ROCPROFSYS_PROFIL=ON", "omnitrace=1",
            "OMNITRACE_TIMING_UNIT="})
          .notes(),
      (std::vector<std::string>{
          "ROCPROFSYS_PROFIL" + unknown + "; did you mean ROCPROFSYS_PROFILE? [TL707]",
          "OMNITRACE_BOGUS" + unknown + " [TL707]",
          "OMNITRACE_TIMING_UNIT" + unknown + "; did you mean OMNITRACE_TIMING_UNITS? [TL707]"}));
}

TEST(OmnitraceSettings, RefuseWhatCannotBeRead) {
  EXPECT_EQ(why({"OMNITRACE_TRACE=maybe"}),
            "variable OMNITRACE_TRACE: 'maybe' cannot be read; write ON or OFF [TL709]");
  EXPECT_EQ(why({"ROCPROFSYS_MAX_DEPTH=deep"}),
            "variable ROCPROFSYS_MAX_DEPTH: 'deep' cannot be read; write a whole number [TL709]");
  EXPECT_EQ(why({"OMNITRACE_MAX_DEPTH=-3"}),
            "variable OMNITRACE_MAX_DEPTH: '-3' cannot be read; write a whole number from 0 on "
            "[TL709]");
  EXPECT_EQ(why({"OMNITRACE_TIMING_PRECISION=999"}),
            "variable OMNITRACE_TIMING_PRECISION: '999' cannot be read; write a whole number from "
            "-1 to 30 [TL709]");
  EXPECT_EQ(why({"OMNITRACE_PRECISION=30", "OMNITRACE_WIDTH=300", "OMNITRACE_MEMORY_WIDTH=-1"}),
            "");
  for (const std::string wrong : {"-1", "1e300", "1e9", "inf", "nan"}) {
    EXPECT_EQ(why({"OMNITRACE_TRACE_DELAY=" + wrong}),
              "variable OMNITRACE_TRACE_DELAY: '" + wrong +
                  "' cannot be read; write a number from 0 on, less than 1e9 [TL709]");
  }
  EXPECT_EQ(why({"OMNITRACE_ROOT=/opt", "OMNITRACE_TRACE=", "OMNITRACE_WHATEVER=1"}), "");
}

TEST(OmnitraceSettings, BecomeSettings) {
  Settings settings;
  apply(read({"OMNITRACE_PROFILE=ON", "OMNITRACE_INIT_ENABLED=OFF", "OMNITRACE_TRACE_DELAY=0.5",
              "OMNITRACE_TRACE_DURATION=1", "OMNITRACE_PAPI_EVENTS=PAPI_TOT_INS PAPI_TOT_CYC",
              "OMNITRACE_TIMEMORY_COMPONENTS=wall_clock, thread_cpu_util peak_rss user_mode_time"}),
        settings);
  EXPECT_TRUE(settings.flag(kSettings.paused));
  EXPECT_EQ(settings.text(kSettings.from), "500ms");
  EXPECT_EQ(settings.text(kSettings.until), "1500ms");
  EXPECT_EQ(settings.text(kSettings.metric_rusage), "ru_maxrss,ru_stime,ru_utime");
  EXPECT_EQ(settings.text(kSettings.metric_papi), "PAPI_TOT_INS,PAPI_TOT_CYC");
  EXPECT_EQ(settings.text(kSettings.results), "all");
  Settings off;
  apply(read({"OMNITRACE_ENABLED=0", "OMNITRACE_TIMEMORY_COMPONENTS=peak_rss"}), off);
  EXPECT_EQ(off.text(kSettings.results), "none");
  EXPECT_EQ(off.text(kSettings.metric_rusage), "");  // there is no profile
}

TEST(OmnitraceSettings, SayWhatIsNotDone) {
  EXPECT_TRUE(unmet_requests(read({"OMNITRACE_USE_SAMPLING=OFF", "OMNITRACE_TRACE=ON"})).empty());
  EXPECT_EQ(unmet_requests(read({"OMNITRACE_USE_SAMPLING=yes",
                                 "OMNITRACE_TIMEMORY_COMPONENTS=wall_clock cpu_clock"})),
            (std::vector<std::string>{
                "OMNITRACE_USE_SAMPLING=ON: nothing is sampled: every call is recorded [TL708]",
                "OMNITRACE_TIMEMORY_COMPONENTS: cpu_clock is not measured: it counts in steps of "
                "10 ms; take thread_cpu_clock, user_mode_time, kernel_mode_time [TL708]"}));
  EXPECT_THROW(unmet_requests(read({"OMNITRACE_TIMEMORY_COMPONENTS=wallclock"})), Error);
}

TEST(OmnitraceSettings, NameUnits) {
  const OmnitraceSettings known = read({"OMNITRACE_TIMING_UNITS=MS", "OMNITRACE_MEMORY_UNITS=kib"});
  EXPECT_EQ(time_unit(known), (OmnitraceUnit{"msec", 1e6}));
  EXPECT_EQ(memory_unit(known), (OmnitraceUnit{"KiB", 1024}));
  EXPECT_TRUE(unmet_requests(known).empty());
  const OmnitraceSettings unknown =
      read({"OMNITRACE_TIMING_UNITS=parsec", "ROCPROFSYS_MEMORY_UNITS=acre"});
  EXPECT_EQ(time_unit(unknown), (OmnitraceUnit{"sec", 1e9}));
  EXPECT_EQ(memory_unit(unknown), (OmnitraceUnit{"MB", 1e6}));
  EXPECT_EQ(unmet_requests(unknown),
            (std::vector<std::string>{
                "OMNITRACE_TIMING_UNITS=parsec: there is no such unit; times are in sec [TL708]",
                "OMNITRACE_MEMORY_UNITS=acre: there is no such unit; memory is in MB [TL708]"}));
}

TEST(OmnitraceSettings, ChooseAWindow) {
  Settings settings;
  apply(read({"OMNITRACE_TRACE_PERIODS=0.5:2:1:CLOCK_MONOTONIC", "OMNITRACE_TRACE_DELAY=7"}),
        settings);
  EXPECT_EQ(settings.text(kSettings.from), "500ms");
  EXPECT_EQ(settings.text(kSettings.until), "2500ms");
  EXPECT_TRUE(unmet_requests(read({"OMNITRACE_TRACE_PERIODS=0.5:2"})).empty());
  EXPECT_EQ(unmet_requests(read({"OMNITRACE_TRACE_PERIODS=0:1:3:realtime"})),
            (std::vector<std::string>{
                "OMNITRACE_TRACE_PERIODS=0:1:3:realtime: only the first window is recorded [TL708]",
                "OMNITRACE_TRACE_PERIODS=0:1:3:realtime: time is measured with CLOCK_MONOTONIC "
                "[TL708]"}));
  for (const char* wrong : {"1", "1:x", "-1:2", "1:2:3:4:5", ":", "1:inf", "1:1e300"}) {
    EXPECT_THROW(trace_window(read({std::string("OMNITRACE_TRACE_PERIODS=") + wrong})), Error)
        << wrong;
  }
}

TEST(OmnitraceSettings, ChooseCategories) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(categories_left_out(read({})), Words{});
  EXPECT_EQ(categories_left_out(read({"OMNITRACE_ENABLE_CATEGORIES=user, mpi"})), Words{"python"});
  EXPECT_EQ(categories_left_out(read({"ROCPROFSYS_DISABLE_CATEGORIES=User;python"})),
            (Words{"python", "user"}));
  EXPECT_EQ(unmet_requests(read({"OMNITRACE_DISABLE_CATEGORIES=user,host"})),
            Words{"OMNITRACE_DISABLE_CATEGORIES: there is no category host here; there are python, "
                  "user and mpi [TL708]"});
  EXPECT_THROW(unmet_requests(read(
                   {"OMNITRACE_ENABLE_CATEGORIES=user", "OMNITRACE_DISABLE_CATEGORIES=python"})),
               Error);
}

TEST(OmnitraceSettings, GoWithTheRun) {
  const OmnitraceSettings settings = read({"OMNITRACE_PROFILE=ON", "ROCPROFSYS_OUTPUT_PATH=a=b"});
  const OmnitraceSettings again = OmnitraceSettings::from_text(settings.as_text());
  EXPECT_EQ(again.as_text(), "OMNITRACE_OUTPUT_PATH=a=b\nOMNITRACE_PROFILE=ON\n");
  EXPECT_EQ(describe(settings).properties.at(kLayout), "omnitrace");
  EXPECT_EQ(describe(settings).properties.at(kOmnitraceProperty), settings.as_text());
  EXPECT_THROW(OmnitraceSettings::from_text("OMNITRACE_TRACES=ON\n"), Error);
  EXPECT_THROW(OmnitraceSettings::from_text("OMNITRACE_TRACE\n"), Error);
}

// ---- configuration files

std::string nothing(std::string_view) { return {}; }

std::string lines_of(const std::vector<ConfigLine>& lines) {
  std::string text;
  for (const ConfigLine& line : lines)
    text += line.key + "=" + line.value + "@" + line.origin + "\n";
  return text;
}

TEST(OmnitraceConfig, HasLinesOfKeysAndValues) {
  const Lookup home = [](std::string_view name) { return name == "HOME" ? "/home/me" : ""; };
  EXPECT_EQ(lines_of(parse_omnitrace_config("# comment\n\n"
                                            "$ROOT = /data\n"
                                            "OMNITRACE_TRACE = ON  # both\n"
                                            "OMNITRACE_OUTPUT_PATH=$ROOT/x-${ROOT}-$env{A}\n"
                                            "\tOMNITRACE_OUTPUT_PREFIX = $env:HOME/ \r\n"
                                            "OMNITRACE_TMPDIR =",
                                            "a.cfg", home)),
            "OMNITRACE_TRACE=ON@a.cfg:4\n"
            "OMNITRACE_OUTPUT_PATH=/data/x-/data-$env{A}@a.cfg:5\n"
            "OMNITRACE_OUTPUT_PREFIX=/home/me/@a.cfg:6\n"
            "OMNITRACE_TMPDIR=@a.cfg:7\n");
  EXPECT_THROW(parse_omnitrace_config("OMNITRACE_TRACE ON", "a.cfg", nothing), Error);
}

TEST(OmnitraceConfig, RefusesValuesThatWouldFillTheMemory) {
  std::string text = "$A = 0123456789\n";
  for (int i = 0; i < 60; ++i) text += "$A = $A$A\n";
  EXPECT_THROW(parse_omnitrace_config(text, "a.cfg", [](std::string_view) { return ""; }), Error);
}

TEST(OmnitraceConfig, RefusesValuesThatLieTooDeepInJson) {
  constexpr std::size_t kDepth = 100'000;
  std::string objects, lists = "{\"OMNITRACE_TRACE\": " + std::string(kDepth, '[');
  for (std::size_t i = 0; i < kDepth; ++i) objects += "{\"a\":";
  EXPECT_THROW(parse_omnitrace_json(objects + "1" + std::string(kDepth, '}'), "a.json"), Error);
  EXPECT_THROW(parse_omnitrace_json(lists + std::string(kDepth, ']') + "}", "a.json"), Error);
}

TEST(OmnitraceConfig, IsAlsoReadAsJson) {
  EXPECT_EQ(
      lines_of(parse_omnitrace_json(
          R"({"omnitrace": {"settings": {"OMNITRACE_TRACE": true, "OMNITRACE_MAX_DEPTH": {"value": 7, "name": "x"},
                    "OMNITRACE_TIMEMORY_COMPONENTS": ["wall_clock", "peak_rss"]}}})",
          "a.json")),
      "OMNITRACE_TRACE=true@a.json: OMNITRACE_TRACE\n"
      "OMNITRACE_MAX_DEPTH=7@a.json: OMNITRACE_MAX_DEPTH\n"
      "OMNITRACE_TIMEMORY_COMPONENTS=wall_clock,peak_rss@a.json: OMNITRACE_TIMEMORY_COMPONENTS\n");
  for (const char* wrong : {"", "[]", "{", R"({"OMNITRACE_TRACE": {"a": 1}})", "\xff"}) {
    EXPECT_THROW(parse_omnitrace_json(wrong, "a.json"), Error) << wrong;
  }
}

TEST(OmnitraceConfig, IsAlsoReadAsXml) {
  EXPECT_EQ(
      lines_of(parse_omnitrace_xml(
          R"(<?xml version="1.0" encoding="utf-8"?>
<!-- a <comment> -->
<timemory_xml>
  <omnitrace version="1"><settings>
    <OMNITRACE_TRACE>true</OMNITRACE_TRACE>
    <OMNITRACE_MAX_DEPTH><name>max_depth</name><value>7</value></OMNITRACE_MAX_DEPTH>
    <OMNITRACE_OUTPUT_PATH> a&amp;b&lt;<![CDATA[<c>]]> </OMNITRACE_OUTPUT_PATH>
    <OMNITRACE_TIMEMORY_COMPONENTS size="dynamic">
      <value0>wall_clock</value0><value1>peak_rss</value1>
    </OMNITRACE_TIMEMORY_COMPONENTS>
    <OMNITRACE_TMPDIR/>
  </settings></omnitrace>
</timemory_xml>
)",
          "a.xml")),
      "OMNITRACE_TRACE=true@a.xml: OMNITRACE_TRACE\n"
      "OMNITRACE_MAX_DEPTH=7@a.xml: OMNITRACE_MAX_DEPTH\n"
      "OMNITRACE_OUTPUT_PATH=a&b<<c>@a.xml: OMNITRACE_OUTPUT_PATH\n"
      "OMNITRACE_TIMEMORY_COMPONENTS=wall_clock,peak_rss@a.xml: OMNITRACE_TIMEMORY_COMPONENTS\n"
      "OMNITRACE_TMPDIR=@a.xml: OMNITRACE_TMPDIR\n");
  for (const char* wrong : {"", "text", "<a>", "<a></b>", "</a>", "<a>&b;</a>", "<a>&</a>", "<a",
                            "<!-- <a/>", "<a/></a>"}) {
    EXPECT_THROW(parse_omnitrace_xml(wrong, "a.xml"), Error) << wrong;
  }
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_THROW(parse_omnitrace_xml(deep, "a.xml"), Error);
  const test::TempDirectory directory;
  const std::string xml = directory / "a.xml";
  std::ofstream(xml) << "<a>\n<OMNITRACE_MAX_DEPTH>9</OMNITRACE_MAX_DEPTH></a>";
  EXPECT_EQ(read({}, {xml}).number("OMNITRACE_MAX_DEPTH"), 9);
  std::ofstream(xml) << "<a>\n<b>";
  EXPECT_EQ(why({"OMNITRACE_CONFIG_FILE=" + xml}), xml + ":2: the element b does not end [TL711]");
}

TEST(OmnitraceConfig, InXmlNeitherGrowsNorReadsOtherFiles) {
  std::string growing = R"(<!DOCTYPE a [<!ENTITY e0 "eeeeeeeeee">)";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "&e" + std::to_string(i - 1) + ";";
    growing += "<!ENTITY e" + std::to_string(i) + " \"" + before + before + before + "\">";
  }
  growing += "]><a>&e29;</a>";
  for (const std::string& wrong :
       {growing, std::string(R"(<!DOCTYPE a [<!ENTITY b SYSTEM "/etc/passwd">]><a>&b;</a>)"),
        std::string(R"(<!DOCTYPE a [<!ENTITY % b SYSTEM "/etc/passwd"> %b;]><a/>)"),
        std::string(R"(<!DOCTYPE a SYSTEM "/etc/passwd"><a>&b;</a>)")}) {
    EXPECT_THROW(parse_omnitrace_xml(wrong, "a.xml"), Error) << wrong;
  }
  EXPECT_EQ(
      lines_of(parse_omnitrace_xml(
          R"(<!DOCTYPE a SYSTEM "/no/where"><a><OMNITRACE_TRACE>&#111;n</OMNITRACE_TRACE></a>)",
          "a.xml")),
      "OMNITRACE_TRACE=on@a.xml: OMNITRACE_TRACE\n");
}

TEST(OmnitraceConfig, IsWeakerThanVariables) {
  const test::TempDirectory directory;
  const std::string cfg = directory / "a.cfg", json = directory / "b.json";
  std::ofstream(cfg) << "OMNITRACE_PROFILE = ON\nROCPROFSYS_MAX_DEPTH = 4\nOMNITRACE_MAX_WIDTH=9\n";
  std::ofstream(json) << R"({"OMNITRACE_MAX_DEPTH": 5})";
  const OmnitraceSettings settings =
      read({"OMNITRACE_CONFIG_FILE=" + cfg, "OMNITRACE_MAX_WIDTH=30"}, {json});
  EXPECT_TRUE(settings.profiles());
  EXPECT_EQ(settings.number("OMNITRACE_MAX_DEPTH"), 5);
  EXPECT_EQ(settings.number("OMNITRACE_MAX_WIDTH"), 30);
  EXPECT_FALSE(read({"OMNITRACE_CONFIG_FILE=" + cfg, "OMNITRACE_SUPPRESS_CONFIG=ON"}).profiles());
}

TEST(OmnitraceConfig, RefusesUnknownKeysUnlessToldOtherwise) {
  const test::TempDirectory directory;
  const std::string cfg = directory / "a.cfg";
  std::ofstream(cfg) << "OMNITRACE_TRACES = ON\n";
  EXPECT_EQ(why({"OMNITRACE_CONFIG_FILE=" + cfg}),
            cfg +
                ":1: no variable is called 'OMNITRACE_TRACES'; OMNITRACE_STRICT_CONFIG=OFF passes "
                "over it [TL713]");
  const OmnitraceSettings lax =
      read({"OMNITRACE_CONFIG_FILE=" + cfg, "OMNITRACE_STRICT_CONFIG=OFF"});
  EXPECT_EQ(lax.notes(),
            std::vector<std::string>{cfg + ":1: no variable is called 'OMNITRACE_TRACES' [TL713]"});
  EXPECT_EQ(why({"OMNITRACE_CONFIG_FILE=/no/where.cfg"}),
            "cannot read the configuration file /no/where.cfg [TL712]");
  EXPECT_NE(why({"OMNITRACE_CONFIG_FILE=" + (directory / "a.xml")}), "");
}

TEST(OmnitraceConfig, OfTheHomeDirectoryIsRead) {
  const test::TempDirectory directory;
  std::ofstream(directory / ".omnitrace.cfg") << "OMNITRACE_MAX_DEPTH = 4\n";
  EXPECT_EQ(read({"HOME=" + directory.path().string()}).number("OMNITRACE_MAX_DEPTH"), 4);
  EXPECT_EQ(read({"HOME=/no/where"}).number("OMNITRACE_MAX_DEPTH"), 65535);
}

}  // namespace
}  // namespace timeloom
