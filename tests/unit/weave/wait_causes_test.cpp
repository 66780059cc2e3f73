// The waiting of gaps, divided by the looks at the thread meanwhile.
#include "weave/wait_causes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace timeloom::weave {
namespace {

using spool::WaitSpan;
using spool::WaitSpanKind;
using Events = std::vector<Event>;

WaitSpan span(std::uint64_t first, std::uint64_t last, WaitSpanKind kind, std::uint32_t looks,
              std::uint64_t word = 0, std::uint32_t location = 3) {
  return {first, last, location, WaitSpan::what_of(kind, looks), word};
}
Event enter(std::uint64_t time) { return {Timestamp{time}, EventKind::kEnter, 1, 0}; }
Event waiting(std::uint64_t time, std::uint64_t ns) {
  return {Timestamp{time}, EventKind::kWaiting, 0, ns};
}

std::string causes_text(const Events& events) {
  std::string text;
  for (const Event& event : events) {
    if (event.kind != EventKind::kWaiting) continue;
    text += std::to_string(ticks(event.time)) + ":" + kCauseWords[event.ref] + "=" +
            std::to_string(event.value) + " ";
  }
  return text;
}

// The waiting among the events, each of which is a batch of its own.
std::string divided(const std::vector<WaitSpan>& spans, const Events& events) {
  spool::WaitData data;
  data.spans = spans;
  data.gil_from = 1000;
  data.gil_to = 1100;
  WaitCauses causes(data, 3, {});
  Events all;
  for (const Event& event : events) {
    Events batch{event};
    causes.divide(batch);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return causes_text(all);
}

TEST(WaitCauses, AreOfTheLooksInTheGap) {
  const std::vector<WaitSpan> spans = {
      span(120, 180, WaitSpanKind::kTime, 4),        span(220, 220, WaitSpanKind::kFutex, 1, 1040),
      span(320, 320, WaitSpanKind::kFutex, 1, 1100), span(420, 420, WaitSpanKind::kSocket, 1),
      span(520, 520, WaitSpanKind::kProcess, 1),     span(620, 620, WaitSpanKind::kThreadEnd, 1)};
  Events events{enter(100)};
  for (std::uint64_t end = 200; end <= 700; end += 100) {
    events.push_back(waiting(end, 90));
    events.push_back(enter(end));
  }
  EXPECT_EQ(divided(spans, events),
            "200:time=90 300:gil=90 400:lock=90 500:io=90 600:thread=90 700:thread=90 ");
}

TEST(WaitCauses, AreInProportionToTheLooks) {
  EXPECT_EQ(
      divided({span(110, 130, WaitSpanKind::kShared, 3), span(150, 150, WaitSpanKind::kFile, 1)},
              {enter(100), waiting(200, 80), enter(200)}),
      "200:lock=60 200:io=20 ");
}

TEST(WaitCauses, AreUnknownWithoutALook) {
  EXPECT_EQ(divided({span(110, 130, WaitSpanKind::kTime, 3),
                     span(250, 250, WaitSpanKind::kTime, 1, 0, 4)},
                    {enter(200), waiting(300, 80), enter(300)}),
            "300:unknown=80 ");
  EXPECT_EQ(divided({span(250, 250, WaitSpanKind::kOther, 1, 77)},
                    {enter(200), waiting(300, 80), enter(300)}),
            "300:unknown=80 ");
}

TEST(WaitCauses, OneSpanMayLieInSeveralGaps) {
  EXPECT_EQ(divided({span(110, 390, WaitSpanKind::kTime, 70)},
                    {enter(100), waiting(200, 80), enter(200), waiting(300, 70), enter(300),
                     waiting(400, 60), enter(400)}),
            "200:time=80 300:time=70 400:time=60 ");
}

TEST(WaitCauses, TheTimeWithoutAProcessorComesFirst) {
  EXPECT_EQ(divided({span(100, 200, WaitSpanKind::kProcessor, 1, 30),
                     span(150, 150, WaitSpanKind::kTime, 1)},
                    {enter(100), waiting(200, 80), enter(200)}),
            "200:processor=30 200:time=50 ");
  // Each nanosecond once, and of a gap only the part in which it was read.
  EXPECT_EQ(divided({span(100, 300, WaitSpanKind::kProcessor, 1, 100)},
                    {enter(100), waiting(200, 80), enter(200), waiting(400, 80), enter(400)}),
            "200:processor=80 400:unknown=60 400:processor=20 ");
  EXPECT_EQ(divided({span(100, 220, WaitSpanKind::kProcessor, 1, 90)},
                    {enter(190), waiting(290, 80), enter(290)}),
            "290:unknown=50 290:processor=30 ");
}

// A loop that works for a while, and then waits: the thread had no processor in one part of the
// gap.
TEST(WaitCauses, TheTimeWithoutAProcessorMayLieAnywhereInTheGap) {
  EXPECT_EQ(divided({span(600, 800, WaitSpanKind::kProcessor, 1, 150),
                     span(800, 1000, WaitSpanKind::kProcessor, 1, 180)},
                    {enter(100), waiting(1000, 330), enter(1000)}),
            "1000:processor=330 ");
  // The kernel counts it when it ends: the reading at 500 came too early.
  EXPECT_EQ(divided({span(500, 600, WaitSpanKind::kProcessor, 1, 390)},
                    {enter(100), waiting(550, 400), enter(550), waiting(900, 100), enter(900)}),
            "550:unknown=10 550:processor=390 900:unknown=100 ");
}

TEST(WaitCauses, NoTimeWithoutAProcessorIsTakenFromTheNextGap) {
  // At 200 it waited for a time, so it had no other wait before.
  EXPECT_EQ(divided({span(150, 200, WaitSpanKind::kTime, 2),
                     span(200, 300, WaitSpanKind::kProcessor, 1, 60)},
                    {enter(100), waiting(220, 110), enter(220), waiting(320, 40), enter(320)}),
            "220:processor=20 220:time=90 320:processor=40 ");
}

TEST(WaitCauses, TheLastGapHasThemToo) {
  spool::WaitData data;
  data.spans = {span(150, 150, WaitSpanKind::kTime, 1)};
  WaitCauses causes(data, 3, {});
  Events batch{enter(100)};
  causes.divide(batch);
  Events rest{waiting(9, 40)};
  causes.divide_last(rest, 200);
  EXPECT_EQ(causes_text(rest), "9:time=40 ");
}

TEST(WaitCauses, OfAProfileAreKnownByTheirCallPaths) {
  spool::WaitData data;
  const auto gap = [](std::uint64_t from, std::uint64_t to, std::uint32_t place,
                      std::uint64_t waited) {
    return span(from, to, WaitSpanKind::kGap, 1, spool::WaitGap{place, waited}.word());
  };
  data.spans = {gap(100, 200, 7, 90), span(120, 180, WaitSpanKind::kSocket, 4),
                gap(300, 400, 599'999, 80), span(350, 350, WaitSpanKind::kTime, 1),
                gap(500, 600, 7, 70)};
  std::string text;
  for (const WaitCauses::OfPlace& one : WaitCauses(data, 3, {}).gaps()) {
    text += std::to_string(one.place) + ":" + kCauseWords[static_cast<std::size_t>(one.cause)] +
            "=" + std::to_string(one.nanoseconds) + " ";
  }
  EXPECT_EQ(text, "7:io=90 599999:time=80 ");  // nobody looked at the last one
  EXPECT_EQ(divided(data.spans, {enter(100), waiting(200, 90), enter(200)}), "200:io=90 ");
}

}  // namespace
}  // namespace timeloom::weave
