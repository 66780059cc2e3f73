// A measurement's choices of what to leave out and what to sample.
#include <algorithm>
#include <thread>

#include "core/error.hpp"
#include "record_fixture.hpp"

namespace timeloom::record {
namespace {

class ChoicesTest : public RecordTest {
 protected:
  void begin_with(std::size_t max_depth, const MetricPlan& metrics = {}, bool profile = false) {
    StartOptions options;
    options.spool_directory = path();
    options.writer = small();
    options.process.name = "test";
    options.max_depth = max_depth;
    options.metrics = metrics;
    options.profile = profile;
    start(options);
  }
};

TEST_F(ChoicesTest, WhatIsDeeperIsNotRecordedAndBalances) {
  begin_with(2);
  const EventWord f = region("f"), g = region("g"), h = region("h");
  for (int i = 0; i < 2; ++i) {
    enter(f);
    enter(g);
    EXPECT_FALSE(t_recorder->beyond_depth());
    enter(h);
    EXPECT_TRUE(t_recorder->beyond_depth());
    enter(f);
    EXPECT_TRUE(leave(f));
    EXPECT_TRUE(leave(h));
    EXPECT_TRUE(leave(g));
    enter(h);
    EXPECT_TRUE(leave(f));  // together with the regions open inside
  }
  EXPECT_EQ(end().threads[0],
            (Lines{"enter f", "enter g", "leave g", "enter h", "leave h", "leave f",  //
                   "enter f", "enter g", "leave g", "enter h", "leave h", "leave f"}));
  EXPECT_EQ(totals_.events, 12u);
  EXPECT_EQ(totals_.lost_events, 0u);
}

TEST_F(ChoicesTest, DepthIsEndlessWithoutALimitAndAfterOne) {
  begin_with(1);
  const EventWord f = region("f");
  constexpr int kDepth = 1000;
  const auto dive = [&] {
    for (int i = 0; i < kDepth; ++i) enter(f);
    for (int i = 0; i < kDepth; ++i) ASSERT_TRUE(leave(f));
  };
  dive();
  EXPECT_EQ(end().threads[0].size(), 2u);
  next_spool();
  begin_with(0);
  dive();
  EXPECT_EQ(end().threads[0].size(), 2u * kDepth);
}

TEST_F(ChoicesTest, WhatWasNotRecordedIsForgottenFromTheMiddle) {
  begin_with(0);
  const EventWord f = region("f"), g = region("g");
  const Token left_out = 0x100'0000'0002;
  enter(f);
  t_recorder->enter_unrecorded(left_out);
  enter(g);
  t_recorder->forget_unrecorded(left_out);
  t_recorder->forget_unrecorded(left_out);  // it is gone already
  EXPECT_TRUE(leave(g));
  EXPECT_TRUE(leave(f));
  EXPECT_EQ(end().threads[0], (Lines{"enter f", "enter g", "leave g", "leave f"}));
}

TEST_F(ChoicesTest, SamplesComeBeforeEveryEnterAndLeaveOverManySegments) {
  begin_with(0, plan_metrics({"ru_minflt,ru_utime", "", ",", "", "", ","}));
  const EventWord f = region("f");
  constexpr int kCalls = 3000;
  for (int i = 0; i < kCalls; ++i) {
    enter(f);
    leave(f);
  }
  const Lines lines = end().threads[0];
  ASSERT_EQ(lines.size(), 6u * kCalls);
  for (std::size_t i = 0; i < lines.size(); i += 3) {
    ASSERT_TRUE(lines[i].starts_with("metric ru_minflt ")) << lines[i];
    ASSERT_TRUE(lines[i + 1].starts_with("metric ru_utime ")) << lines[i + 1];
    ASSERT_EQ(lines[i + 2], i % 6 == 0 ? "enter f" : "leave f");
  }
  EXPECT_EQ(totals_.events, 4u * kCalls);  // each sample is one more
  EXPECT_EQ(totals_.lost_events, 0u);
}

TEST_F(ChoicesTest, MetricsOfTheProcessAreOnALocationOfTheirOwn) {
  begin_with(0, plan_metrics({"", "ru_utime", ",", "", "", ","}));
  const EventWord f = region("f");
  std::thread([&] { enter(f), leave(f); }).join();
  enter(f);
  leave(f);
  const Recorded found = end();
  EXPECT_TRUE(found.definitions.threads.at(1).has_metrics);
  EXPECT_EQ(found.definitions.threads.at(1).owner, 0u);
  EXPECT_EQ(found.threads.at(2), (Lines{"enter f", "leave f"}));  // not the first thread
  Lines lines = found.threads.at(0);
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0], "track 1");
  EXPECT_TRUE(lines[1].starts_with("metric ru_utime "));
  EXPECT_EQ(lines[2], "track 0");
  EXPECT_EQ(lines[3], "enter f");
  EXPECT_EQ(totals_.threads, 2u);
}

TEST(Metrics, NamesAreChecked) {
  EXPECT_EQ(plan_metrics({"all", "", ",", "", "", ","}).thread.rusage.size(), 16u);
  const MetricPlan plan = plan_metrics({" ru_stime ;ru_utime;ru_stime", "", ";", "", "", ","});
  EXPECT_EQ(plan.thread.rusage, (std::vector<std::string>{"ru_stime", "ru_utime"}));
  EXPECT_FALSE(plan_metrics({"", "", ",", "", "", ","}).any());
  EXPECT_THROW(plan_metrics({"ru_none", "", ",", "", "", ","}), Error);
  EXPECT_THROW(plan_metrics({"", "utime", ",", "", "", ","}), Error);
}

TEST(Metrics, DefinitionsAreThoseOfScoreP) {
  const std::vector<Metric> all = metrics_of({{"ru_utime", "ru_maxrss", "ru_minflt"}, {"X"}}, true);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].unit, "s");
  EXPECT_EQ(all[0].exponent, -6);
  EXPECT_EQ(all[0].mode, MetricMode::kAccumulatedStart);
  EXPECT_EQ(all[1].unit, "Bytes");
  EXPECT_TRUE(all[1].binary);
  EXPECT_EQ(all[1].exponent, 10);
  EXPECT_EQ(all[1].mode, MetricMode::kAbsoluteNext);
  EXPECT_EQ(all[2].unit, "#");
  EXPECT_EQ(all[3].source, MetricSource::kPapi);
  for (const Metric& metric : all) {
    EXPECT_TRUE(metric.of_process());
    EXPECT_EQ(metric.set, all[0].set);
  }
}

}  // namespace
}  // namespace timeloom::record
