// Calls of a GPU library among the events of the calling thread.
#include "weave/gpu/gpu_calls.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace timeloom::weave {
namespace {

using Events = std::vector<Event>;

Event enter_region(std::uint64_t time, std::uint32_t region) {
  return {Timestamp{time}, EventKind::kEnter, region, 0};
}
Event leave_region(std::uint64_t time, std::uint32_t region) {
  return {Timestamp{time}, EventKind::kLeave, region, 0};
}
Event waiting_value(std::uint64_t time, std::uint64_t ns) {
  return {Timestamp{time}, EventKind::kWaiting, 0, ns};
}
GpuCall call(std::uint64_t start, std::uint64_t end, std::uint32_t region) {
  return {Timestamp{start}, Timestamp{end}, region};
}

std::string gpu_calls_text(const Events& events) {
  std::string text;
  for (const Event& event : events) {
    const std::string time = std::to_string(ticks(event.time));
    const char* kind = event.kind == EventKind::kEnter             ? "+"
                       : event.kind == EventKind::kLeave           ? "-"
                       : event.kind == EventKind::kWaiting         ? "w"
                       : event.kind == EventKind::kParameterString ? "p"
                                                                   : "m";
    text += time + kind + std::to_string(event.ref);
    if (event.value != 0) text += "=" + std::to_string(event.value);
    text += " ";
  }
  return text;
}

const std::vector<GpuFact> kFacts{
    {EventKind::kMetric, 9, 1}, {EventKind::kParameterString, 7, 3}, {EventKind::kMetric, 8, 900}};

// Merges everything in one batch, then the remaining calls at the end.
std::string merged(const std::vector<GpuCall>& calls, Events events) {
  PendingGpuCalls pending{calls, kFacts};
  GpuStream stream;
  stream.merge(pending, events);
  Events rest;
  stream.close(pending, Timestamp{UINT64_MAX}, rest);
  events.insert(events.end(), rest.begin(), rest.end());
  return gpu_calls_text(events);
}

TEST(GpuCalls, LieInsideTheRegionThatMadeThem) {
  EXPECT_EQ(
      merged({call(10, 20, 50), call(30, 40, 51)},
             {enter_region(5, 1), enter_region(25, 2), leave_region(45, 2), leave_region(60, 1)}),
      "5+1 10+50 20-50 25+2 30+51 40-51 45-2 60-1 ");
}

TEST(GpuCalls, BringWhatTheyStarted) {
  GpuCall one = call(10, 20, 50);
  one.first_fact = 1;
  one.facts = 2;
  EXPECT_EQ(merged({one}, {enter_region(5, 1), leave_region(60, 1)}),
            "5+1 10+50 10p7=3 10m8=900 20-50 60-1 ");
}

TEST(GpuCalls, Nest) {
  EXPECT_EQ(merged({call(10, 40, 50), call(20, 30, 51)}, {enter_region(5, 1), leave_region(60, 1)}),
            "5+1 10+50 20+51 30-51 40-50 60-1 ");
}

// A call of the library may call the program back.
TEST(GpuCalls, HoldWhatIsEnteredInsideThem) {
  EXPECT_EQ(merged({call(10, 40, 50)}, {enter_region(5, 1), enter_region(20, 2),
                                        leave_region(30, 2), leave_region(60, 1)}),
            "5+1 10+50 20+2 30-2 40-50 60-1 ");
}

// For inaccurate clocks, or the records of a killed program.
TEST(GpuCalls, EndWithTheRegionAroundThem) {
  EXPECT_EQ(merged({call(10, 70, 50)}, {enter_region(5, 1), leave_region(60, 1),
                                        enter_region(65, 1), leave_region(80, 1)}),
            "5+1 10+50 60-50 60-1 65+1 80-1 ");
  EXPECT_EQ(merged({call(10, 25, 50)}, {enter_region(5, 1), enter_region(20, 2),
                                        leave_region(30, 2), leave_region(60, 1)}),
            "5+1 10+50 20+2 30-2 30-50 60-1 ");
}

TEST(GpuCalls, GoOnBehindTheLastEvent) {
  EXPECT_EQ(merged({call(10, 70, 50), call(80, 90, 51)}, {enter_region(5, 1)}),
            "5+1 10+50 70-50 80+51 90-51 ");
}

TEST(GpuCalls, GetTheWaitingThatWasInThem) {
  EXPECT_EQ(merged({call(10, 20, 50), call(30, 50, 51)},
                   {enter_region(5, 1), waiting_value(60, 100), leave_region(60, 1)}),
            "5+1 10+50 20-50 30+51 50w0=20 50-51 60-1 ");
  EXPECT_EQ(
      merged({call(10, 20, 50)}, {enter_region(5, 1), enter_region(25, 2), waiting_value(60, 30),
                                  leave_region(60, 2), leave_region(70, 1)}),
      "5+1 10+50 20-50 25+2 60w0=30 60-2 70-1 ");
}

// Two locations of a thread take turns; each call lies in the active one.
TEST(GpuCalls, GoToTheLocationThatWasOn) {
  const std::vector<GpuCall> calls{call(10, 20, 50), call(40, 45, 51), call(65, 68, 52)};
  PendingGpuCalls pending{calls, kFacts};
  GpuStream first, second;
  Events a{enter_region(5, 1), leave_region(30, 1)}, b{enter_region(35, 2), leave_region(50, 2)},
      c{enter_region(60, 1), leave_region(70, 1)};
  first.merge(pending, a);
  second.merge(pending, b);
  first.merge(pending, c);
  EXPECT_EQ(gpu_calls_text(a), "5+1 10+50 20-50 30-1 ");
  EXPECT_EQ(gpu_calls_text(b), "35+2 40+51 45-51 50-2 ");
  EXPECT_EQ(gpu_calls_text(c), "60+1 65+52 68-52 70-1 ");
}

// A location that is read at another time takes its calls with it.
TEST(GpuCalls, AreLeftOutWithTheirLocation) {
  const std::vector<GpuCall> calls{call(10, 20, 50), call(40, 45, 51), call(50, 55, 52)};
  PendingGpuCalls pending{calls, kFacts};
  pending.drop(Timestamp{5});
  EXPECT_EQ(pending.calls.size(), 3u);
  pending.drop(Timestamp{50});
  Events events{enter_region(46, 1), leave_region(60, 1)};
  GpuStream stream;
  stream.merge(pending, events);
  EXPECT_EQ(gpu_calls_text(events), "46+1 50+52 55-52 60-1 ");
  pending.drop(Timestamp{UINT64_MAX});
  EXPECT_TRUE(pending.calls.empty());
}

// A location that ends takes those before its end only.
TEST(GpuCalls, OfALocationEndWithIt) {
  const std::vector<GpuCall> calls{call(40, 45, 51), call(65, 68, 52)};
  PendingGpuCalls pending{calls, kFacts};
  GpuStream stream;
  Events events{enter_region(5, 1), leave_region(30, 1)}, rest;
  stream.merge(pending, events);
  stream.close(pending, Timestamp{50}, rest);
  EXPECT_EQ(gpu_calls_text(rest), "40+51 45-51 ");
  EXPECT_EQ(pending.calls.size(), 1u);
}

}  // namespace
}  // namespace timeloom::weave
