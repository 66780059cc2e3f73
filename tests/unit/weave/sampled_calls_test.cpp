// Calls that are made of the stacks of samples.
#include "weave/samples/sampled_calls.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/samples/sampled_time.hpp"

namespace timeloom::weave {
namespace {

constexpr std::uint32_t kThread = 3;

// A clock of one tick in a nanosecond. Regions have the numbers 1 to 9.
class SampledCallsTest : public ::testing::Test {
 protected:
  SampledCallsTest() {
    for (std::uint32_t region = 1; region < 10; ++region) definitions_.regions[region] = {};
    Metric metric;
    metric.name = kSampledTimeMetric;
    metric.type = MetricValueType::kUint64;
    definitions_.metrics[5] = metric;
    definitions_.properties[kSampledCalls] = kStacksInHandler;
  }

  // `shared`: frames of the stack before; `frames`: the ones behind these.
  void sample(std::uint64_t time, std::uint64_t weight, std::uint32_t shared,
              const std::vector<std::uint32_t>& frames, std::uint32_t thread = kThread) {
    spool::ThreadSample one;
    one.ticks = time;
    one.weight_ns = weight;
    one.location = thread;
    one.has_stack = true;
    one.shared = shared;
    one.count = static_cast<std::uint32_t>(frames.size());
    one.first = data_.frames.size();
    data_.frames.insert(data_.frames.end(), frames.begin(), frames.end());
    data_.samples.push_back(one);
  }

  SampledCalls calls() const { return {data_, definitions_, clock_, kThread}; }

  static std::string text_of(const std::vector<Event>& events) {
    std::string text;
    for (const Event& event : events) {
      const char* kind = event.kind == EventKind::kEnter    ? "+"
                         : event.kind == EventKind::kLeave  ? "-"
                         : event.kind == EventKind::kMetric ? "m"
                                                            : "?";
      text += (text.empty() ? "" : " ") + std::to_string(ticks(event.time)) + kind +
              std::to_string(event.ref);
      if (event.kind == EventKind::kMetric) text += "=" + std::to_string(event.value);
    }
    return text;
  }

  spool::SampleData data_;
  spool::ProcessDefinitions definitions_;
  ProcessClock clock_{os::ClockSource::kMonotonic, {}};
};

TEST_F(SampledCallsTest, EnterBeforeTheFirstSampleAndLeaveAtTheLast) {
  sample(2'000'000, 1'000'000, 0, {1, 2});
  sample(3'000'000, 1'000'000, 2, {3});
  sample(4'000'000, 1'000'000, 1, {4});
  EXPECT_EQ(text_of(calls().rest()),
            "1000000+1 1000000+2 2000000m5=1000000 2000000+3 3000000m5=1000000 "
            "3000000-3 3000000-2 3000000+4 4000000m5=1000000 4000000-4 4000000-1");
}

TEST_F(SampledCallsTest, AreNowhereWhileTheThreadWaits) {
  sample(2'000'000, 1'000'000, 0, {1, 2});
  sample(9'000'000, 1'000'000, 2, {});
  EXPECT_EQ(text_of(calls().rest()),
            "1000000+1 1000000+2 2000000m5=1000000 2000000-2 2000000-1 "
            "8000000+1 8000000+2 9000000m5=1000000 9000000-2 9000000-1");
}

TEST_F(SampledCallsTest, GoOnOverShortBreaksAndOverlaps) {
  sample(2'000'000, 1'000'000, 0, {1});
  sample(3'010'000, 1'000'000, 1, {});   // 10 us later than the one before ended
  sample(4'000'000, 1'500'000, 0, {2});  // begins before the one before ended
  EXPECT_EQ(text_of(calls().rest()),
            "1000000+1 2000000m5=1000000 3010000m5=1000000 3010000-1 3010000+2 4000000m5=1500000 "
            "4000000-2");
}

TEST_F(SampledCallsTest, EndBeforeRecordedRegions) {
  sample(2'000'000, 1'000'000, 0, {1});
  sample(4'000'000, 500'000, 1, {});
  sample(6'000'000, 500'000, 1, {});
  std::vector<Event> batch{{Timestamp{3'000'000}, EventKind::kEnter, 9, 0},
                           {Timestamp{5'000'000}, EventKind::kLeave, 9, 0}};
  SampledCalls sampled = calls();
  sampled.merge(batch);
  EXPECT_EQ(text_of(batch),
            "1000000+1 2000000m5=1000000 2000000-1 3000000+9 "
            "3500000+1 4000000m5=500000 4000000-1 5000000-9");
  EXPECT_EQ(text_of(sampled.rest()), "5500000+1 6000000m5=500000 6000000-1");
}

TEST_F(SampledCallsTest, TakeNoWaitingOfTheRegionAround) {
  sample(2'000'000, 1'000'000, 0, {1});
  std::vector<Event> batch{{Timestamp{500'000}, EventKind::kEnter, 9, 0},
                           {Timestamp{5'000'000}, EventKind::kWaiting, 0, 3'000'000},
                           {Timestamp{5'000'000}, EventKind::kLeave, 9, 0}};
  SampledCalls sampled = calls();
  sampled.merge(batch);
  EXPECT_EQ(text_of(batch), "500000+9 1000000+1 2000000m5=1000000 2000000-1 5000000?0 5000000-9");
}

TEST_F(SampledCallsTest, AreThoseOfTheThreadAndOfKnownRegions) {
  sample(1'500'000, 1'000'000, 0, {7}, kThread - 1);
  sample(2'000'000, 1'000'000, 0, {1, 77, 2});
  sample(2'500'000, 1'000'000, 0, {8}, kThread + 1);
  EXPECT_EQ(text_of(calls().rest()), "1000000+1 1000000+2 2000000m5=1000000 2000000-2 2000000-1");
}

TEST_F(SampledCallsTest, AreNoneWithoutStacks) {
  sample(2'000'000, 1'000'000, 0, {});
  data_.samples.back().has_stack = false;
  EXPECT_EQ(text_of(calls().rest()), "");
  std::vector<Event> batch{{Timestamp{3}, EventKind::kEnter, 9, 0}};
  SampledCalls().merge(batch);
  EXPECT_EQ(text_of(batch), "3+9");
}

}  // namespace
}  // namespace timeloom::weave
