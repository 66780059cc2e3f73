// Events through a spool and back.
#include <thread>

#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

class SegmentsTest : public SpoolTest {};

TEST_F(SegmentsTest, AnEmptySpoolIsReadable) {
  create();
  const Found found = close_and_read();
  EXPECT_TRUE(found.events.empty());
  EXPECT_TRUE(found.ended);
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(SegmentsTest, EveryKindOfEventComesBackAsItWasPut) {
  Pen pen(create(), 0);
  pen.enter(1000, 0);
  pen.enter(1001, kMaxPayload);
  pen.valued(1002, EventKind::kParameterInt, 1, static_cast<std::uint64_t>(-5));
  pen.valued(1003, EventKind::kParameterUint, 2, UINT64_MAX);
  pen.valued(1004, EventKind::kParameterFloat, 3, std::bit_cast<std::uint64_t>(-0.25));
  pen.valued(1005, EventKind::kParameterString, 4, 0);
  pen.valued(1006, EventKind::kMetric, 5, 0);
  pen.recording(1007, false);
  pen.recording(1008, true);
  pen.leave(1009, kMaxPayload);
  pen.leave(1010, 0);
  pen.retire();
  const Found found = close_and_read();
  EXPECT_EQ(found.events.at(0), pen.lines());
  EXPECT_EQ(found.events.at(0).size(), 11u);
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(SegmentsTest, ATimeBaseBridgesLongPauses) {
  constexpr std::uint64_t kYear = std::uint64_t{365} * 24 * 3600 * 3'000'000'000;
  Pen pen(create(), 0);
  pen.enter(10, 1);
  pen.enter(10 + kMaxDelta, 2);
  pen.time_base(11 + kMaxDelta);
  pen.leave(11 + kMaxDelta, 2);
  pen.time_base(kYear);
  pen.leave(kYear, 1);
  pen.leave(kYear + kMaxDelta, 1);
  pen.retire();
  EXPECT_EQ(close_and_read().events.at(0), pen.lines());
}

TEST_F(SegmentsTest, ManySegmentsComeBackInOrder) {
  Pen pen(create(), 0);
  for (std::uint32_t i = 0; i < 20000; ++i) pen.enter(i * 10, i);
  pen.retire();
  EXPECT_GT(pen.segments().size(), 30u);
  EXPECT_EQ(close_and_read().events.at(0), pen.lines());
}

// Longer than one read. A defect behind that is counted once.
TEST_F(SegmentsTest, LongSegmentsComeBackInParts) {
  WriterOptions options;
  options.segment_size = 64 << 10;
  options.ring_size = 8 * options.segment_size;
  Writer& writer = create(options);
  Pen sound(writer, 0), broken(writer, 1);
  for (std::uint32_t i = 0; i < 20000; ++i) sound.enter(i, i);
  for (std::uint32_t i = 0; i < 5000; ++i) broken.enter(i, i);
  EXPECT_EQ(sound.segments().size(), 3u);
  Found found = read_as_if_killed();
  EXPECT_EQ(found.events.at(0), sound.lines());
  EXPECT_EQ(found.events.at(1), broken.lines());
  EXPECT_EQ(found.damage, 0u);
  broken.raw(5000, make_extended(static_cast<ExtendedKind>(99), 0), {});
  sound.retire();
  broken.retire();
  found = close_and_read();
  EXPECT_EQ(found.events.at(0), sound.lines());
  EXPECT_EQ(found.events.at(1), broken.lines());
  EXPECT_EQ(found.damage, 1u);
}

TEST_F(SegmentsTest, ALaterSegmentHasALaterBase) {
  Pen pen(create(), 0);
  pen.enter(0, 1);
  pen.retire();
  pen.leave(std::uint64_t{1} << 60, 1);
  pen.retire();
  EXPECT_EQ(close_and_read().events.at(0), pen.lines());
}

TEST_F(SegmentsTest, ThreadsAreKeptApart) {
  Writer& writer = create();
  Pen first(writer, 0), second(writer, 7);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    first.enter(i, i);
    if (i % 3 == 0) second.leave(i, i);
  }
  first.retire();
  second.retire();
  const Found found = close_and_read();
  EXPECT_EQ(found.events.at(0), first.lines());
  EXPECT_EQ(found.events.at(7), second.lines());
}

TEST_F(SegmentsTest, AKilledProcessLeavesEverythingUpToItsLastEvent) {
  Pen pen(create(), 0);
  for (std::uint32_t i = 0; i < 2000; ++i) pen.enter(i, i);
  const Found found = read_as_if_killed();
  EXPECT_FALSE(found.ended);
  EXPECT_EQ(found.events.at(0), pen.lines());
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(SegmentsTest, WhatKilledAProcessIsKnown) {
  Writer& writer = create();
  writer.ending() = to_word({EndingKind::kSignal, 15});
  const Ending found = read_definitions().ending;
  EXPECT_EQ(found.kind, EndingKind::kSignal);
  EXPECT_EQ(found.value, 15u);
}

TEST_F(SegmentsTest, WhatEndedAProcessInOrderIsKnown) {
  create().close({EndingKind::kExit, 3});
  const ProcessDefinitions found = read_definitions();
  EXPECT_TRUE(found.ended);
  EXPECT_EQ(found.ending.kind, EndingKind::kExit);
  EXPECT_EQ(found.ending.value, 3u);
}

TEST_F(SegmentsTest, KilledAfterEachOfItsFirstEvents) {
  Pen pen(create(), 0);
  for (std::uint32_t i = 1; i < 40; ++i) {
    pen.valued(i, EventKind::kMetric, i, 0);
    ASSERT_EQ(read_as_if_killed().events.at(0), pen.lines()) << i;
  }
}

TEST_F(SegmentsTest, HalfAnExtendedRecordIsNotThere) {
  Writer& writer = create();
  Segment* segment = writer.acquire(0, 0, 100);
  segment->words()[0] = at(make_word(WordKind::kEnter, 1), 5);
  segment->words()[2] = 3;  // words are written before the head
  segment->words()[3] = 4;
  EXPECT_EQ(read_as_if_killed().events.at(0), Lines{"105 enter 1"});
  segment->words()[1] = at(make_extended(ExtendedKind::kParameterInt, 2), 6);
  EXPECT_EQ(read_as_if_killed().events.at(0), (Lines{"105 enter 1", "106 int 3 4"}));
  writer.retire(segment, 4);
}

TEST_F(SegmentsTest, SmallStepsBackInTimeAreLevelled) {
  Pen pen(create(), 0);
  pen.enter(1000, 1);
  pen.leave(1000 + 500, 1);
  pen.retire();
  pen.enter(1400, 2);  // another core, slightly behind
  pen.retire();
  const Found found = close_and_read();
  EXPECT_EQ(found.events.at(0), (Lines{"1000 enter 1", "1500 leave 1", "1500 enter 2"}));
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(SegmentsTest, LargeStepsBackInTimeAreDamage) {
  Pen pen(create(), 0);
  pen.enter(1u << 30, 1);
  pen.retire();
  pen.leave(5, 1);
  pen.retire();
  const Found found = close_and_read();
  EXPECT_EQ(found.events.at(0), Lines{std::to_string(1u << 30) + " enter 1"});
  EXPECT_EQ(found.damage, 1u);
}

// Invalid records: the events before them are read, and they are counted.
TEST_F(SegmentsTest, RecordsThatCannotBeAreDamage) {
  struct Case {
    const char* what;
    EventWord head;
    std::vector<std::uint64_t> words;
  };
  const std::vector<Case> cases = {
      {"unknown kind", make_extended(static_cast<ExtendedKind>(99), 0), {}},
      {"kind zero", make_extended(static_cast<ExtendedKind>(0), 1), {1}},
      {"metric of one word", make_extended(ExtendedKind::kMetric, 1), {1}},
      {"reference too large", make_extended(ExtendedKind::kMetric, 2), {UINT32_MAX, 1}},
      {"pause with a word", make_extended(ExtendedKind::kRecordingOff, 1), {1}},
      {"longer than its segment", make_extended(ExtendedKind::kMetric, 255), {}},
      {"base in the past", make_extended(ExtendedKind::kTimeBase, 1), {50}},
      {"base beyond all time", make_extended(ExtendedKind::kTimeBase, 1), {UINT64_MAX}},
      {"bits that are not used", make_extended(ExtendedKind::kRecordingOn, 0) | (1u << 20), {}},
      {"end with a time", at(make_word(WordKind::kEnd, 0), 5), {}},
  };
  Writer& writer = create(small(32));
  std::vector<std::unique_ptr<Pen>> pens;
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    pens.push_back(std::make_unique<Pen>(writer, i));
    pens.back()->enter(100, 1);
    pens.back()->raw(101, cases[i].head, cases[i].words);
    pens.back()->retire();
  }
  const Found found = close_and_read();
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(found.events.at(i), Lines{"100 enter 1"}) << cases[i].what;
  }
  EXPECT_EQ(found.damage, cases.size());
}

TEST_F(SegmentsTest, TheReaderSaysHowMuchThereIs) {
  Writer& writer = create();
  Pen pen(writer, 3);
  for (std::uint32_t i = 0; i < 1000; ++i) pen.enter(i, i);
  pen.retire();
  writer.define_location(1, 11, "silent");
  writer.close();
  const auto reader = Reader::open(path());
  EXPECT_EQ(reader->locations(), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(reader->bytes(3), 8000u);
  EXPECT_EQ(reader->bytes(1), 0u);
  EXPECT_EQ(reader->bytes(99), 0u);
  EXPECT_EQ(writer.bytes(), 8000u);
  EXPECT_TRUE(reader->complete());
}

TEST_F(SegmentsTest, ThreadsMayReadDifferentLocationsAtOnce) {
  Writer& writer = create();
  std::vector<Lines> expected;
  for (std::uint32_t location = 0; location < 4; ++location) {
    Pen pen(writer, location);
    for (std::uint32_t i = 0; i < 3000; ++i) pen.enter(i, i * 4 + location);
    expected.push_back(pen.lines());
  }
  writer.close();
  const auto reader = Reader::open(path());
  std::vector<Lines> found(4);
  std::vector<std::thread> threads;
  for (std::uint32_t location = 0; location < 4; ++location) {
    threads.emplace_back([&, location] {
      LocationReader events = reader->read(location);
      found[location] = lines_of(events);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace timeloom::spool
