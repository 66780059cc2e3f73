// Runs on disk: weaving them and finding them.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "../support/child.hpp"
#include "formats/cube/cube_profile.hpp"
#include "weave/run_contents.hpp"
#include "weave_fixture.hpp"

namespace timeloom::weave {
namespace {

class RunTest : public WeaveTest {};

TEST_F(RunTest, AWovenRunHoldsWhatWasRecorded) {
  simple_run(5);
  EXPECT_TRUE(unfinished(run()));
  const WeaveSummary summary = weave(run());
  EXPECT_EQ(summary.events, 14u);
  EXPECT_EQ(summary.threads, 1u);
  EXPECT_EQ(summary.processes, 1u);
  EXPECT_EQ(summary.ending, "");
  EXPECT_EQ(summary.lost_events + summary.closed_regions + summary.damaged_segments, 0u);
  EXPECT_FALSE(unfinished(run()));
  EXPECT_EQ(names(), (std::vector<std::string>{"MANIFEST.md", "profile.cubex", "traces",
                                               "traces.def", "traces.otf2"}));
  EXPECT_EQ(lines_of_trace(trace_of(run())).at("main"), in_program(calls(5)));
}

TEST_F(RunTest, TheProfileNamesTheTrace) {
  simple_run();
  WeaveOptions options;
  options.keep_spool = true;
  weave(run(), options);
  EXPECT_TRUE(has_profile(run()));
  const auto id_in_profile = [&] { return cube::trace_id_of(cube::Reader(profile_of(run()))); };
  const std::uint64_t id = otf2::trace_id(trace_of(run()));
  EXPECT_NE(id, 0u);
  EXPECT_EQ(id_in_profile(), id);
  fs::remove(trace_of(run()));  // and so it is woven again
  weave(run());
  EXPECT_NE(otf2::trace_id(trace_of(run())), id);
  EXPECT_EQ(id_in_profile(), otf2::trace_id(trace_of(run())));
}

TEST_F(RunTest, TheManifestNamesEveryFile) {
  simple_run();
  test::write_bytes(run() / "scorep.cfg", "x");
  WeaveOptions options;
  options.keep_spool = true;
  weave(run(), options);
  const std::string manifest = test::read_bytes(run() / "MANIFEST.md");
  for (const std::string& name : names()) {
    if (name == "MANIFEST.md") continue;
    EXPECT_NE(manifest.find("| " + name + " |"), std::string::npos) << name;
  }
  weave(run());
  EXPECT_EQ(test::read_bytes(run() / "MANIFEST.md").find("| spool |"), std::string::npos);
}

TEST_F(RunTest, AKilledRunSaysSo) {
  spool::Writer& writer = spool("p");
  spool::Pen pen(writer, 0);
  pen.enter(os::now(), 0);
  const spool::Snapshot left = spool::Snapshot::of(run() / "spool/p");
  pen.retire();
  writer.close();
  left.write_to(run() / "spool/p");
  const WeaveSummary summary = weave(run());
  EXPECT_NE(summary.ending, "");
  EXPECT_EQ(summary.closed_regions, 1u);
  EXPECT_EQ(lines_of_trace(trace_of(run())).at("main"), in_program({"enter f", "leave f"}));
}

// OTF2's readers refuse a trace without locations.
TEST_F(RunTest, ARunKilledBeforeItsFirstThreadIsATraceOfBeginAndEnd) {
  fs::create_directories(run() / "spool");
  { const auto writer = spool::Writer::create((run() / "spool/p").string(), small()); }
  const WeaveSummary summary = weave(run());
  EXPECT_EQ(summary.threads, 1u);
  EXPECT_FALSE(unfinished(run()));
  EXPECT_EQ(lines_of_trace(trace_of(run())),
            (std::map<std::string, Lines>{{"Thread 0", in_program({})}}));
}

TEST_F(RunTest, MarkersAreInTheTrace) {
  spool::Writer& writer = spool("p");
  writer.define_marker(0, os::now(), "half way");
  end(writer);
  weave(run());
  const auto trace = otf2::open(trace_of(run()));
  ASSERT_EQ(trace->definitions().markers.size(), 1u);
  EXPECT_EQ(trace->definitions().markers[0].text, "half way");
}

TEST_F(RunTest, ASpoolThatCannotBeReadIsNotRemoved) {
  simple_run();
  fs::create_directory(run() / "spool/a");
  test::write_bytes(run() / "spool/a/defs", "rubbish");
  EXPECT_EQ(weave(run()).damaged_segments, 1u);
  EXPECT_EQ(test::read_bytes(run() / "spool/a/defs"), "rubbish");
  EXPECT_FALSE(unfinished(run()));
}

TEST_F(RunTest, ADamagedSpoolIsNotRemoved) {
  simple_run(2000);
  std::string log = test::read_bytes(run() / "spool/p/log");
  log[log.size() / 2] = static_cast<char>(log[log.size() / 2] ^ 1);
  test::write_bytes(run() / "spool/p/log", log);
  EXPECT_EQ(weave(run()).damaged_segments, 1u);
  EXPECT_EQ(test::read_bytes(run() / "spool/p/log"), log);
  EXPECT_NE(test::read_bytes(run() / "MANIFEST.md").find("| spool |"), std::string::npos);
}

// Instead of waiting for a writer.
TEST_F(RunTest, AFifoInPlaceOfAFileIsDamage) {
  simple_run();
  fs::remove(run() / "spool/p/log");
  ASSERT_EQ(::mkfifo((run() / "spool/p/log").c_str(), 0666), 0);
  EXPECT_GT(weave(run()).damaged_segments, 0u);
}

TEST_F(RunTest, WhileTheProgramRunsItIsWovenAndStaysUnfinished) {
  fs::create_directories(run() / "spool");
  const std::string counters_path = directory_ / "counters";
  const test::SharedCounters counters(counters_path);
  test::Child child({TIMELOOM_WEAVE_VICTIM, "record", run() / "spool/p", counters_path});
  while (counters[0] == 0) std::this_thread::yield();
  EXPECT_EQ(weave(run()).running, 1u);
  EXPECT_TRUE(unfinished(run()));
  child.end();
  EXPECT_EQ(weave(run()).running, 0u);
  EXPECT_FALSE(unfinished(run()));
  EXPECT_FALSE(fs::exists(run() / "spool"));
}

TEST_F(RunTest, WhileAnotherWeavesWeavingIsRefused) {
  simple_run();
  const int fd = ::open(run().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  EXPECT_EQ(
      error_of([&] { weave(run()); }),
      run().string() + " is being woven by another process; wait until it has finished [TL212]");
  ::close(fd);
  EXPECT_NO_THROW(weave(run()));
}

TEST_F(RunTest, AnotherWeaveIsWaitedForWithPatience) {
  simple_run();
  int fd = ::open(run().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  WeaveOptions options;
  options.timeout = std::chrono::milliseconds(50);
  EXPECT_NE(error_of([&] { weave(run(), options); }), "none");
  EXPECT_TRUE(unfinished(run()));
  options.timeout = std::chrono::hours(1);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::close(fd);
  });
  EXPECT_NO_THROW(weave(run(), options));
  other.join();
  EXPECT_FALSE(unfinished(run()));
}

TEST_F(RunTest, ASpoolThatJoinsWhileTheOthersAreRemovedIsWovenLater) {
  simple_run(5);
  WeaveOptions options;
  options.keep_spool = true;
  weave(run(), options);
  spool::Writer& late = spool("q", {"late", "later"});
  write_calls(late, 0, 7);
  end(late);
  EXPECT_FALSE(unfinished(run()));
  EXPECT_EQ(remove_woven_spools(run::Directory(run()), 1), 1u);
  EXPECT_TRUE(unfinished(run()));
  const WeaveSummary summary = weave(run());
  EXPECT_EQ(summary.processes, 2u);
  EXPECT_EQ(summary.running, 0u);
  EXPECT_FALSE(unfinished(run()));
  EXPECT_EQ(names(), (std::vector<std::string>{"MANIFEST.md", "profile.cubex", "traces",
                                               "traces.def", "traces.otf2"}));
}

TEST_F(RunTest, OfManyWeavesAtOnceOneDoesIt) {
  simple_run(20000);
  std::atomic<int> done = 0, refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const std::string error = error_of([&] { weave(run()); });
      ++(error == "none" ? done : refused);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(lines_of_trace(trace_of(run())).at("main"), in_program(calls(20000)));
}

TEST_F(RunTest, WeavingTwiceIsRefusedUnlessTheSpoolIsThere) {
  simple_run();
  WeaveOptions options;
  options.keep_spool = true;
  weave(run(), options);
  const auto first = lines_of_trace(trace_of(run()));
  weave(run());
  EXPECT_EQ(lines_of_trace(trace_of(run())), first);
  EXPECT_EQ(error_of([&] { weave(run()); }),
            run().string() + " has been woven already; open it with: timeloom report " +
                run().string() + " [TL215]");
}

TEST_F(RunTest, WhatIsNoRunIsRefused) {
  EXPECT_NE(error_of([&] { weave(run()); }).find("cannot open"), std::string::npos);
  fs::create_directory(run());
  EXPECT_NE(error_of([&] { weave(run()); }).find("holds no spool"), std::string::npos);
  EXPECT_FALSE(unfinished(run()));
  EXPECT_NE(error_of([&] { trace_of(run()); }).find("holds no trace"), std::string::npos);
}

TEST_F(RunTest, AFullDiskLosesNothingAndCanBeRepeated) {
  simple_run(200000);
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit {};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const struct rlimit small { 100000, limit.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string error = error_of([&] { weave(run()); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, before);
  EXPECT_NE(error, "none");
  EXPECT_EQ(names(), std::vector<std::string>{"spool"});
  EXPECT_TRUE(unfinished(run()));
  EXPECT_EQ(weave(run()).events, 400004u);
}

class FindTest : public WeaveTest {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(directory_.path());
  }
  void TearDown() override { fs::current_path(before_); }
  static void make(const std::string& path) {
    fs::create_directories(fs::absolute(path).parent_path());
    test::write_bytes(path, "x");
  }
  static void set_age(const std::string& path, int hours) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }
  fs::path before_;
};

TEST_F(FindTest, TheNewestRunOfTheDirectory) {
  EXPECT_NE(error_of([] { find_run({}); }).find("no run in this directory"), std::string::npos);
  make("neither/file");
  make("src/spool/reader.cpp");  // a source tree
  make("src/spool/parts/reader.cpp");
  make("alone.otf2");
  make("damaged/traces.otf2");
  EXPECT_EQ(find_run({}), "damaged");
  simple_run();
  weave(run());
  fs::rename(run(), "old");
  simple_run();
  fs::rename(run(), "new");  // never woven
  EXPECT_EQ(find_run({}), "new");
  // The recorded time counts, not the time that a copy or a user gives to a file.
  set_age("new", 5);
  set_age("new/spool", 5);
  EXPECT_EQ(find_run({}), "new");
  weave("new");
  fs::remove("new/profile.cubex");
  EXPECT_EQ(find_run({}), "new");
  fs::remove_all("new");
  EXPECT_EQ(find_run({}), "old");
}

TEST_F(FindTest, RunsOfOthersOnlyWhereThereAreNoOwn) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory to another user";
  constexpr unsigned kOther = 4242;
  simple_run();
  fs::rename(run(), "own");
  simple_run();
  fs::rename(run(), "other");
  ASSERT_EQ(::chown("other", kOther, kOther), 0);
  EXPECT_EQ(find_run({}), "own");
  EXPECT_EQ(other_owner("own"), "");
  fs::remove_all("own");
  EXPECT_EQ(find_run({}), "other");
  EXPECT_EQ(other_owner("other"), "user 4242");
}

TEST_F(FindTest, ARunByItsDirectoryOrItsAnchor) {
  make("run/traces.otf2");
  make("foreign/app.otf2");
  make("two/a.otf2");
  make("two/b.otf2");
  EXPECT_EQ(find_run("run"), "run");
  EXPECT_EQ(find_run("run/traces.otf2"), "run");
  EXPECT_EQ(find_run("foreign/app.otf2"), "foreign/app.otf2");
  EXPECT_EQ(find_run("foreign"), "foreign");
  EXPECT_EQ(trace_of("foreign"), "foreign/app.otf2");
  EXPECT_EQ(trace_of("foreign/app.otf2"), "foreign/app.otf2");
  EXPECT_EQ(trace_of("run"), "run/traces.otf2");
  EXPECT_NE(error_of([] { find_run("two"); }).find("is not a run"), std::string::npos);
  EXPECT_NE(error_of([] { find_run("none"); }).find("does not exist"), std::string::npos);
  make("src/spool/reader.cpp");
  EXPECT_NE(error_of([] { find_run("src"); }).find("is not a run"), std::string::npos);
  EXPECT_FALSE(unfinished("src"));
  make("file");
  EXPECT_NE(error_of([] { find_run("file"); }).find("is not a run"), std::string::npos);
  make("profiled/profile.cubex");
  make("other/app.cubex");
  EXPECT_EQ(find_run("profiled"), "profiled");
  EXPECT_EQ(find_run("other/app.cubex"), "other/app.cubex");
  EXPECT_EQ(profile_of("profiled"), "profiled/profile.cubex");
  EXPECT_EQ(profile_of("other"), "other/app.cubex");
  EXPECT_EQ(profile_of("other/app.cubex"), "other/app.cubex");
  EXPECT_TRUE(has_trace("run") && has_trace("foreign") && has_trace("foreign/app.otf2"));
  EXPECT_FALSE(has_trace("profiled") || has_trace("other") || has_trace("other/app.cubex"));
  EXPECT_NE(error_of([] { profile_of("run"); }).find("holds no profile"), std::string::npos);
  fs::current_path("run");
  EXPECT_EQ(find_run("traces.otf2"), ".");
}

// An archive under another name, as other tools write them.
TEST_F(FindTest, AForeignArchiveCanBeRead) {
  simple_run(2);
  weave(run());
  fs::create_directory("foreign");
  for (const char* end : {".otf2", ".def", ""}) {
    fs::rename(run() / (std::string("traces") + end), "foreign/app" + std::string(end));
  }
  EXPECT_FALSE(unfinished("foreign"));
  EXPECT_EQ(lines_of_trace(trace_of(find_run("foreign"))).at("main"), in_program(calls(2)));
}

}  // namespace
}  // namespace timeloom::weave
