// Weaving a run in which an attacker has replaced entries by symbolic links, or which asks for a
// profile under a name that leads elsewhere.
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
  void TearDown() override {  // no weave touches anything outside the run
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

TEST_F(LinksTest, ToSpoolsAreNotFollowed) {
  simple_run();
  for (const char* place : {"spool", "spool/p"}) {
    SCOPED_TRACE(place);
    fs::rename(run() / place, directory_ / "moved");
    fs::create_symlink(directory_ / "moved", run() / place);
    EXPECT_FALSE(unfinished(run()));
    EXPECT_THROW(weave(run()), Error);
    fs::remove(run() / place);
    fs::rename(directory_ / "moved", run() / place);
  }
  weave(run());
  EXPECT_EQ(lines_of_trace(trace_of(run())).at("main"), in_program(calls(3)));
}

TEST_F(LinksTest, ALinkInThePlaceOfASpoolIsNamed) {
  fs::create_directories(run());
  fs::create_symlink(elsewhere(), run() / "spool");
  EXPECT_EQ(error_of([&] { find_run(run()); }), (run() / "spool").string() +
                                                    " is a link, and links inside a run are not "
                                                    "followed; put there what it leads to [TL209]");
}

TEST_F(LinksTest, InThePlaceOfFilesOfASpoolAreDamage) {
  write_calls(spool("p"), 0, 3);
  kill("p");
  weave(run(), {.keep_spool = true});
  const Lines whole = lines_of_trace(trace_of(run())).at("main");
  EXPECT_EQ(whole, in_program(calls(3)));
  for (const char* name : {"ring", "log", "defs"}) {
    SCOPED_TRACE(name);
    const fs::path place = run() / "spool/p" / name;
    if (!fs::exists(place)) continue;
    fs::rename(place, directory_ / "moved");
    fs::create_symlink(directory_ / "moved", place);
    EXPECT_NE(error_of([&] { weave(run(), {.keep_spool = true}); }).find("cannot read"),
              std::string::npos);
    EXPECT_TRUE(fs::exists(place));
    fs::remove(place);
    fs::rename(directory_ / "moved", place);
  }
}

TEST_F(LinksTest, InThePlaceOfFilesOfATraceAreNotFollowed) {
  simple_run();
  weave(run());
  fs::remove(run() / "profile.cubex");
  for (const char* name : {"traces.otf2", "traces.def", "traces", "traces/0.evt"}) {
    SCOPED_TRACE(name);
    fs::rename(run() / name, directory_ / "moved");
    fs::create_symlink(directory_ / "moved", run() / name);
    EXPECT_THROW(otf2::open(trace_of(run())), Error);
    fs::remove(run() / name);
    fs::rename(directory_ / "moved", run() / name);
  }
  fs::create_directory_symlink(run(), directory_ / "link");  // the run itself may be a link
  EXPECT_EQ(lines_of_trace(trace_of(directory_ / "link")).at("main"), in_program(calls(3)));
}

TEST_F(LinksTest, InThePlaceOfAProfileAreNotFollowed) {
  simple_run();
  weave(run());
  fs::rename(run() / "profile.cubex", directory_ / "moved.cubex");
  fs::create_symlink(directory_ / "moved.cubex", run() / "profile.cubex");
  EXPECT_FALSE(has_profile(run()));
  EXPECT_THROW(profile_of(run()), Error);
  EXPECT_EQ(profile_of(run() / "profile.cubex"), run() / "profile.cubex");  // as the user writes it
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
  child.end();
}

// Otherwise records made after the interrupted weave would never be woven.
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
