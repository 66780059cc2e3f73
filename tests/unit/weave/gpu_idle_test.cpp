// Idle times of devices, and the regions that get them.
#include "weave/gpu/gpu_idle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace timeloom::weave {
namespace {

GpuSpan span(std::uint64_t start, std::uint64_t end, std::uint32_t correlation = 0) {
  return {Timestamp{start}, Timestamp{end}, correlation};
}

std::string spans_text(const std::vector<GpuSpan>& spans) {
  std::string text;
  for (const GpuSpan& one : spans) {
    text += std::to_string(ticks(one.start)) + "-" + std::to_string(ticks(one.end)) + "#" +
            std::to_string(one.correlation) + " ";
  }
  return text;
}

TEST(GpuIdle, IsOutsideOfAllWorks) {
  std::vector<GpuSpan> works{span(50, 60, 3), span(10, 20, 1), span(15, 30, 2), span(52, 55, 4)};
  EXPECT_EQ(spans_text(idle_spans(works, Timestamp{0}, Timestamp{100})),
            "0-10#1 30-50#3 60-100#3 ");
  std::vector<GpuSpan> whole{span(0, 100, 1)};
  EXPECT_EQ(spans_text(idle_spans(whole, Timestamp{0}, Timestamp{100})), "");
  std::vector<GpuSpan> none;
  EXPECT_EQ(spans_text(idle_spans(none, Timestamp{0}, Timestamp{100})), "");
}

TEST(GpuIdle, IsCountedOutsideOfCalls) {
  const std::vector<GpuSpan> calls{span(0, 5), span(8, 12), span(20, 22), span(38, 50)};
  EXPECT_EQ(outside_ns(span(10, 40), calls), 30u - 2 - 2 - 2);
  EXPECT_EQ(outside_ns(span(5, 8), calls), 3u);
  EXPECT_EQ(outside_ns(span(40, 45), calls), 0u);
}

TEST(GpuIdle, OfSeveralDevicesAddsUp) {
  const std::vector<GpuIdle> joined = joined_idle({span(0, 10), span(5, 20), span(30, 40)});
  PendingGpuIdle pending(joined);
  EXPECT_EQ(pending.pass(Timestamp{7}), 7u + 2);
  EXPECT_EQ(pending.pass(Timestamp{7}), 0u);
  EXPECT_EQ(pending.pass(Timestamp{15}), 3u + 8);
  EXPECT_EQ(pending.pass(Timestamp{35}), 5u + 5);
  EXPECT_EQ(pending.pass(Timestamp{UINT64_MAX}), 5u);
}

Event enter(std::uint64_t time, std::uint32_t region) {
  return {Timestamp{time}, EventKind::kEnter, region, 0};
}
Event leave(std::uint64_t time, std::uint32_t region) {
  return {Timestamp{time}, EventKind::kLeave, region, 0};
}

// The metrics, as "region: ns", and the number of all events. Regions from 50 on are calls.
std::string added(PendingGpuIdle& pending, GpuIdleStream& stream, std::vector<Event> events) {
  const std::size_t before = events.size();
  stream.add(pending, {9, 50}, events);
  std::string text;
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    if (events[i].kind != EventKind::kMetric) continue;
    EXPECT_EQ(events[i].ref, 9u);
    EXPECT_EQ(events[i + 1].kind, EventKind::kLeave);
    EXPECT_EQ(events[i + 1].time, events[i].time);
    text += std::to_string(events[i + 1].ref) + ":" + std::to_string(events[i].value) + " ";
  }
  const auto metrics = static_cast<std::size_t>(std::ranges::count(text, ':'));
  EXPECT_EQ(events.size(), before + metrics);
  return text;
}

// Region 2 is short: its idle time goes to region 1 around it. The call 50 keeps its own.
TEST(GpuIdle, BelongsToTheRegionWithoutRegionsInside) {
  const std::vector<GpuIdle> idle{{Timestamp{1000}, Timestamp{100'000}, 1},
                                  {Timestamp{200'000}, Timestamp{220'000}, 1}};
  PendingGpuIdle pending(idle);
  GpuIdleStream stream;
  EXPECT_EQ(added(pending, stream,
                  {enter(0, 1), enter(20'000, 2), leave(25'000, 2), enter(30'000, 3),
                   enter(50'000, 50), leave(52'000, 50), leave(90'000, 3)}),
            "50:2000 3:58000 ");
  EXPECT_EQ(added(pending, stream, {enter(205'000, 2), leave(216'000, 2), leave(300'000, 1)}),
            "2:11000 1:48000 ");
}

// Two locations of a thread take turns; the time between them is counted once.
TEST(GpuIdle, GoesToTheLocationThatWasOn) {
  const std::vector<GpuIdle> idle{{Timestamp{0}, Timestamp{100'000}, 1}};
  PendingGpuIdle pending(idle);
  GpuIdleStream first, second;
  EXPECT_EQ(added(pending, first, {enter(0, 1)}), "");
  EXPECT_EQ(added(pending, second, {enter(20'000, 2), leave(50'000, 2)}), "2:30000 ");
  EXPECT_EQ(added(pending, first, {leave(100'000, 1)}), "1:50000 ");
}

}  // namespace
}  // namespace timeloom::weave
