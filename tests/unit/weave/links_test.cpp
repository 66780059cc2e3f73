// Weaving a run in which somebody has put symbolic links in the place of entries, or
// which asks for a profile under a name that leads elsewhere.
#include <thread>

#include "../support/child.hpp"
#include "core/run_properties.hpp"
#include "run/contents.hpp"
#include "weave_fixture.hpp"

namespace timeloom::weave {
namespace {

class LinksTest : public WeaveTest {
 protected:
  void SetUp() override {
    fs::create_directory(elsewhere());
    test::write_bytes(elsewhere() / "data", "precious");
    test::write_bytes(file(), "precious");
  }
  void TearDown() override {  // whatever is woven, nothing outside the run is touched
    EXPECT_EQ(test::read_bytes(elsewhere() / "data"), "precious");
    EXPECT_EQ(test::read_bytes(file()), "precious");
  }
  fs::path elsewhere() const { return directory_ / "elsewhere"; }
  fs::path file() const { return directory_ / "file"; }
  void ask_for_profile(const std::string& base, const std::string& layout = "scorep") {
    spool::Writer& writer = spool("p");
    write_calls(writer, 0, 3);
    writer.define_property(kProfileBaseName, base);
    writer.define_property(kLayout, layout);
    end(writer);
  }
};

TEST_F(LinksTest, InThePlaceOfResultsAndLeftOversAreRemoved) {
  simple_run();
  for (const run::Entry& entry : run::kContents) {
    if (entry.role != run::Role::kResult && entry.role != run::Role::kLeftOver) continue;
    for (const fs::path& target : {elsewhere(), file()}) {
      SCOPED_TRACE(std::string(entry.name) + " to " + target.string());
      fs::remove_all(run() / entry.name);
      fs::create_symlink(target, run() / entry.name);
      weave(run(), {.keep_spool = true});
      EXPECT_FALSE(fs::is_symlink(run() / entry.name));
      EXPECT_EQ(lines_of_trace(trace_of(run())).at("main"), in_program(calls(3)));
    }
  }
}

TEST_F(LinksTest, ToASpoolIsReadAndRemovedWithoutTheSpool) {
  simple_run();
  fs::rename(run() / "spool", directory_ / "spool");
  fs::create_symlink(directory_ / "spool", run() / "spool");
  weave(run());
  EXPECT_EQ(lines_of_trace(trace_of(run())).at("main"), in_program(calls(3)));
  EXPECT_FALSE(fs::exists(fs::symlink_status(run() / "spool")));
  EXPECT_TRUE(fs::exists(directory_ / "spool/p/defs"));
}

TEST_F(LinksTest, InThePlaceOfTheMarkAreRemoved) {
  simple_run();
  fs::create_symlink(file(), run() / "spool/running");
  EXPECT_TRUE(unfinished(run()));
  weave(run(), {.keep_spool = true});
  EXPECT_FALSE(unfinished(run()));
  EXPECT_FALSE(fs::is_symlink(run() / "spool/running"));
}

TEST_F(LinksTest, InThePlaceOfTheMarkAreReplacedWhileTheProgramRuns) {
  fs::create_directories(run() / "spool");
  fs::create_symlink(file(), run() / "spool/running");
  const std::string counters_path = directory_ / "counters";
  const test::SharedCounters counters(counters_path);
  test::Child child({TIMELOOM_WEAVE_VICTIM, "record", run() / "spool/p", counters_path});
  while (counters[0] == 0) std::this_thread::yield();
  EXPECT_EQ(weave(run()).running, 1u);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(run() / "spool/running")));
  fs::rename(run() / "spool", directory_ / "spool");
  fs::create_symlink(directory_ / "spool", run() / "spool");
  EXPECT_EQ(error_of([&] { weave(run()); }),
            run().string() +
                " cannot be woven while its program runs, since its spool is a link; wait until "
                "the program has ended");
  child.end();
}

// Else what is recorded after the interrupted weave would never be woven.
TEST_F(LinksTest, AWeaveInterruptedWhileTheProgramRunsLeavesTheRunUnfinished) {
  ask_for_profile("summary");
  fs::create_directories(run() / "summary.cubex/in-the-way");
  const std::string counters_path = directory_ / "counters";
  const test::SharedCounters counters(counters_path);
  test::Child child({TIMELOOM_WEAVE_VICTIM, "record", run() / "spool/v", counters_path});
  while (counters[0] == 0) std::this_thread::yield();
  EXPECT_NE(error_of([&] { weave(run()); }).find("nothing recorded was lost"), std::string::npos);
  EXPECT_TRUE(unfinished(run()));
  child.end();
}

TEST_F(LinksTest, AProfileGetsTheNameThatTheRunAsksFor) {
  ask_for_profile("summary");
  fs::create_symlink(file(), run() / "summary.cubex");
  EXPECT_EQ(weave(run()).refused_profile_name, "");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(run() / "summary.cubex")));
  EXPECT_EQ(names(),
            (std::vector<std::string>{"summary.cubex", "traces", "traces.def", "traces.otf2"}));
}

TEST_F(LinksTest, AProfileThatWouldLieElsewhereKeepsItsName) {
  for (const std::string base : {"../file", "/tmp/x", "..", ".hidden", "a/b"}) {
    SCOPED_TRACE(base);
    fs::remove_all(run());
    ask_for_profile(base);
    EXPECT_EQ(weave(run()).refused_profile_name, base);
    EXPECT_EQ(names(),
              (std::vector<std::string>{"profile.cubex", "traces", "traces.def", "traces.otf2"}));
  }
}

TEST_F(LinksTest, ALayoutOfALaterVersionIsWovenAsOurOwn) {
  ask_for_profile("profile", "later");
  weave(run());
  EXPECT_EQ(names(), (std::vector<std::string>{"MANIFEST.md", "profile.cubex", "traces",
                                               "traces.def", "traces.otf2"}));
}

}  // namespace
}  // namespace timeloom::weave
