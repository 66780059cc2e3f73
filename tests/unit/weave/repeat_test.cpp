// An interrupted weave can be repeated with the same result.
#include <chrono>
#include <random>
#include <thread>

#include "../support/child.hpp"
#include "../support/thorough.hpp"
#include "weave_fixture.hpp"

namespace timeloom::weave {
namespace {

class RepeatTest : public WeaveTest {
 protected:
  void SetUp() override {
    spool::Writer& writer = spool("p");
    for (std::uint32_t location = 0; location < 4; ++location) write_calls(writer, location, 8000);
    end(writer);
    spool_ = run() / "spool/p";
    saved_ = directory_ / "saved";
    fs::copy(run(), saved_, fs::copy_options::recursive);
    const auto begin = std::chrono::steady_clock::now();
    weave(run());
    duration_ = std::chrono::steady_clock::now() - begin;
    truth_ = lines_of_trace(trace_of(run()));
    truth_files_ = names();
  }
  void start_over() {
    fs::remove_all(run());
    fs::copy(saved_, run(), fs::copy_options::recursive);
  }
  void expect_same() {
    EXPECT_EQ(lines_of_trace(trace_of(run())), truth_);
    EXPECT_EQ(names(), truth_files_);
  }

  fs::path spool_, saved_;
  std::chrono::steady_clock::duration duration_{};
  std::map<std::string, Lines> truth_;
  std::vector<std::string> truth_files_;
};

TEST_F(RepeatTest, KilledAtRandomMoments) {
  std::mt19937 random(7);
  const int kills = test::rounds(10, 20);
  int finished = 0;
  for (int i = 0; i < kills; ++i) {
    start_over();
    const std::string counters_path = directory_ / ("counters-" + std::to_string(i));
    const test::SharedCounters counters(counters_path);
    test::Child child({TIMELOOM_WEAVE_VICTIM, "weave", run(), counters_path});
    while (counters[0] == 0) std::this_thread::yield();
    std::this_thread::sleep_for(duration_ * (random() % 1000) / 1000);
    child.end();
    finished += unfinished(run()) ? 0 : 1;
    weave(run());
    expect_same();
    if (HasFailure()) FAIL() << "after kill " << i;
  }
  EXPECT_LT(finished, kills) << "none was interrupted";
}

TEST_F(RepeatTest, KilledAfterEachOfItsSteps) {
  const std::vector<std::string> order = {"traces", "traces.def", "MANIFEST.md", "profile.cubex",
                                          "traces.otf2"};
  WeaveOptions options;
  options.keep_spool = true;
  for (std::size_t moved = 0; moved <= order.size(); ++moved) {
    SCOPED_TRACE(moved);
    start_over();
    weave(run(), options);
    // Restores the state in which only `moved` of the results were in place.
    fs::create_directory(run() / ".weaving");
    for (std::size_t i = moved; i < order.size(); ++i) {
      fs::rename(run() / order[i], run() / ".weaving" / order[i]);
    }
    EXPECT_TRUE(unfinished(run()));  // at the end the spool is still there
    weave(run());
    expect_same();
  }
}

// The spool is half removed: the trace is complete, so nothing may touch it.
TEST_F(RepeatTest, KilledWhileTheSpoolIsRemoved) {
  fs::create_directories(run() / ".woven/p");
  test::write_bytes(run() / ".woven/p/defs", test::read_bytes(saved_ / "spool/p/defs"));
  EXPECT_FALSE(unfinished(run()));
  EXPECT_NE(error_of([&] { weave(run()); }).find("woven already"), std::string::npos);
  expect_same();
}

TEST_F(RepeatTest, OneThreadOrManyMakeTheSameFiles) {
  std::map<std::string, std::string> files[2];
  for (const unsigned threads : {1u, 4u}) {
    start_over();
    WeaveOptions options;
    options.threads = threads;
    weave(run(), options);
    expect_same();
    for (const auto& entry : fs::recursive_directory_iterator(run())) {
      if (!entry.is_regular_file()) continue;
      // Each trace has a unique identity in its anchor and definitions.
      const std::string name = fs::relative(entry.path(), run());
      if (name.ends_with(".evt"))
        files[threads == 1 ? 0 : 1][name] = test::read_bytes(entry.path());
    }
  }
  EXPECT_EQ(files[0].size(), 4u);
  EXPECT_TRUE(files[0] == files[1]);
}

}  // namespace
}  // namespace timeloom::weave
