// The names of files that Omnitrace's variables and the keys in them make.
#include "doors/omnitrace/settings/omnitrace_names.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "doors/omnitrace/settings/omnitrace_variables.hpp"
#include "support/temp_directory.hpp"

namespace timeloom {
namespace {

using test::read;

OmnitraceFacts facts() {
  OmnitraceFacts one;
  one.command = {"/home/me/external.py", "-n", "a/b"};
  one.process = 4711;
  one.parent = 12;
  one.group = 13;
  one.session = 14;
  one.launch = 1'700'000'000;
  one.variable = [](std::string_view name) -> std::string {
    if (name == "USER") return "me";
    if (name == "UP") return "..";
    if (name == "HOME") return "/home/me";
    return "";
  };
  return one;
}

TEST(OmnitraceNames, HaveKeys) {
  const OmnitraceSettings settings = read({"OMNITRACE_TIME_FORMAT=%Y", "OMNITRACE_MAX_DEPTH=7"});
  const auto text = [&](std::string_view keys) { return with_keys(keys, settings, facts()); };
  EXPECT_EQ(text("%tag%|%args%|%argt%"), "external|-n_a_b|external_-n_a_b");
  EXPECT_EQ(text("%argv%"), "_home_me_external.py_-n_a_b");
  EXPECT_EQ(text("%arg0%|%arg1%|%arg2%|%arg9%"), "_home_me_external.py|-n|a_b|");
  EXPECT_EQ(text("%tag_hash%"), md5("external"));
  EXPECT_EQ(text("%pid%-%ppid%-%pgid%-%psid%-%p"), "4711-12-13-14-4711");
  EXPECT_EQ(text("%job%%rank%%size%%nid%%j%r%s"), "0014711001");
  EXPECT_EQ(text("%launch_time%"), "2023");
  EXPECT_EQ(text("%env{USER}%/$env{USER}/%env{HOME}%/$env{UP}"), "me/me/_home_me/_");
  EXPECT_EQ(text("%cfg{OMNITRACE_MAX_DEPTH}%$cfg{MAX_DEPTH}$cfg{NONE}"), "77");
  EXPECT_EQ(text("100% of %x% %"), "100% of %x% %");
}

TEST(OmnitraceNames, AreHashed) {
  EXPECT_EQ(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

std::string trip_count(const std::vector<std::string>& entries,
                       const OmnitraceFacts& of = facts()) {
  const OmnitracePlace place = place_of(read(entries), of);
  return place.directory + "/" + file_name(place, "trip_count", "txt");
}

TEST(OmnitraceNames, AreThoseOfOmnitrace) {
  const std::string plain = "OMNITRACE_TIME_OUTPUT=OFF", no_pid = "OMNITRACE_USE_PID=OFF";
  EXPECT_EQ(trip_count({"OMNITRACE_TIME_FORMAT=%Y"}),
            "omnitrace-external-output/2023/trip_count-4711.txt");
  EXPECT_EQ(trip_count({plain}), "omnitrace-external-output/trip_count-4711.txt");
  const auto prefixed = [&](const std::string& prefix) {
    return trip_count(
        {plain, no_pid, "OMNITRACE_OUTPUT_PATH=o", "OMNITRACE_OUTPUT_PREFIX=" + prefix});
  };
  EXPECT_EQ(prefixed("pre"), "o/pre-trip_count.txt");
  EXPECT_EQ(prefixed("pre_"), "o/pre_trip_count.txt");
  EXPECT_EQ(prefixed("x/y/"), "o/x/y/trip_count.txt");
  EXPECT_EQ(prefixed("%tag%"), "o/externaltrip_count.txt");
  EXPECT_EQ(prefixed("../../up/"), "o/_/_/up/trip_count.txt");
  EXPECT_EQ(prefixed("/etc/./x_"), "o/etc/x_trip_count.txt");
  OmnitraceFacts rank = facts();
  rank.rank = 3;
  EXPECT_EQ(trip_count({plain, "OMNITRACE_OUTPUT_PATH=o"}, rank), "o/trip_count-3.txt");
}

TEST(OmnitraceNames, OfTheTrace) {
  const auto name = [](const std::string& file) {
    return perfetto_file_name(place_of(read({"OMNITRACE_PERFETTO_FILE=" + file}), facts()));
  };
  EXPECT_EQ(perfetto_file_name(place_of(read({}), facts())), "perfetto-trace-4711.proto");
  EXPECT_EQ(name("%tag%.pftrace"), "external-4711.pftrace");
  EXPECT_EQ(name("a"), "a-4711.proto");
  EXPECT_EQ(name("/tmp/a.proto"), "/tmp/a.proto");
  EXPECT_EQ(name("../x/a.proto"), "_/x/a-4711.proto");
}

TEST(OmnitraceNames, GoWithTheRun) {
  const OmnitracePlace place = place_of(read({"OMNITRACE_OUTPUT_PREFIX=x/"}), facts());
  const std::string text = describe(read({}), place).properties.at(kOmnitraceNamesProperty);
  const OmnitracePlace again = place_from_text(text);
  EXPECT_EQ(again.prefix, "x/");
  EXPECT_EQ(again.suffix, "-4711");
  EXPECT_EQ(perfetto_file_name(again), "x/perfetto-trace-4711.proto");
  for (const char* wrong : {"x", "../\n-1\na", "/a/\n-1\na", "a\n/../b\na", "a\n-1\n../a.proto"}) {
    EXPECT_THROW(place_from_text(wrong), Error) << wrong;
  }
}

TEST(OmnitraceNames, FallBackToTheCurrentDirectory) {
  const test::TempDirectory directory;
  OmnitracePlace place;
  place.directory = directory / "a/b";
  EXPECT_EQ(make_place(place), "");
  EXPECT_TRUE(std::filesystem::is_directory(directory / "a/b"));
  std::ofstream(directory / "file") << "x";
  place.directory = directory / "file/b";
  EXPECT_EQ(make_place(place), "cannot write to " + (directory / "file/b") +
                                   ": Not a directory; the files go to ./ [TL721]");
  EXPECT_EQ(place.directory, ".");
}

}  // namespace
}  // namespace timeloom
