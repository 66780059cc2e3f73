// The records of a segment, decoded some at a time.
#include "spool/segment_decoder.hpp"

#include <gtest/gtest.h>

#include "core/io.hpp"
#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

// Records of every kind, each with another time, and a new base in between.
std::vector<EventWord> every_record() {
  std::vector<EventWord> words;
  std::uint64_t time = 0;
  const auto put = [&](EventWord head, std::initializer_list<std::uint64_t> more = {}) {
    words.push_back(at(head, ++time));
    words.insert(words.end(), more);
  };
  put(make_extended(ExtendedKind::kOpenRegions, 2),
      {(std::uint64_t{8} << 32) | 7, (std::uint64_t{UINT32_MAX} << 32) | 9});
  for (std::uint32_t i = 0; i < 5; ++i) put(make_word(WordKind::kEnter, i));
  put(make_extended(ExtendedKind::kParameterString, 2), {1, 2});
  put(make_extended(ExtendedKind::kSamples, 4), {3, 10, 20, 30});
  put(make_extended(ExtendedKind::kWaiting, 1), {500});
  put(make_word(WordKind::kLeave, 4));
  words.push_back(make_extended(ExtendedKind::kTimeBase, 1));
  words.push_back(1'000'000);
  put(make_extended(ExtendedKind::kRecordingOff, 0));
  put(make_extended(ExtendedKind::kTrack, 1), {6});
  for (std::uint32_t i = 4; i-- > 0;) put(make_word(WordKind::kLeave, i));
  put(make_extended(ExtendedKind::kMpiSend, 3), {(std::uint64_t{1} << 32) | 2, 3, 4});
  put(make_extended(ExtendedKind::kMpiIrecv, 4), {(std::uint64_t{1} << 32) | 2, 3, 4, 5});
  put(make_extended(ExtendedKind::kMpiCollectiveBegin, 0));
  put(make_extended(ExtendedKind::kMpiCollectiveComplete, 5), {2, UINT32_MAX, 3, 4, 5});
  put(make_extended(ExtendedKind::kCommCreate, 1), {2});
  return words;
}

struct Decoded {
  std::vector<Event> events;
  std::uint64_t last_ticks = 0;
  std::size_t used = 0;
  friend bool operator==(const Decoded& one, const Decoded& other) {
    const auto same = [](const Event& a, const Event& b) {
      return a.time == b.time && a.kind == b.kind && a.ref == b.ref && a.value == b.value;
    };
    return std::ranges::equal(one.events, other.events, same) &&
           one.last_ticks == other.last_ticks && one.used == other.used;
  }
};

Decoded decode(std::span<const EventWord> words, std::size_t most) {
  Decoded result;
  SegmentDecoder::Appeared appeared;
  SegmentDecoder decoder(words, 100, 0, &appeared);
  std::size_t before = 0;
  while (decoder.decode(most, result.last_ticks, result.events)) {
    EXPECT_GE(result.events.size(), before + most);
    before = result.events.size();
  }
  result.used = decoder.used();
  return result;
}

TEST(SegmentDecoder, DecodesTheSameInPartsOfAnySize) {
  const std::vector<EventWord> words = every_record();
  const Decoded whole = decode(words, 1000);
  EXPECT_EQ(whole.used, words.size());
  ASSERT_EQ(whole.events.size(), 31u);
  EXPECT_EQ(whole.events[2].ref, 9u);  // the last one that was open
  EXPECT_EQ(whole.events[3].time, Timestamp{102});
  EXPECT_EQ(whole.events[12].kind, EventKind::kWaiting);
  EXPECT_EQ(whole.events[13].kind, EventKind::kLeave);
  EXPECT_EQ(whole.events[14].time, Timestamp{1'000'011});
  EXPECT_EQ(whole.last_ticks, 1'000'021u);
  EXPECT_EQ(whole.events.back().kind, EventKind::kCommCreate);
  for (std::size_t most = 1; most < 32; ++most) EXPECT_EQ(decode(words, most), whole) << most;
}

TEST(SegmentDecoder, StopsAtTheSameRecordInPartsOfAnySize) {
  const std::vector<EventWord> sound = every_record();
  for (std::size_t i = 0; i < sound.size(); ++i) {
    for (const EventWord bad : {EventWord{0}, make_extended(static_cast<ExtendedKind>(200), 0)}) {
      std::vector<EventWord> words = sound;
      words[i] = bad;
      const Decoded whole = decode(words, 1000);
      for (std::size_t most = 1; most < 4; ++most) EXPECT_EQ(decode(words, most), whole) << i;
    }
  }
}

TEST(SegmentDecoder, TakesNoBaseThatNoCounterReaches) {
  const std::vector<EventWord> words = every_record();
  SegmentDecoder decoder(words, std::uint64_t{1} << 63);
  std::uint64_t last_ticks = 0;
  std::vector<Event> events;
  EXPECT_FALSE(decoder.decode(1000, last_ticks, events));
  EXPECT_EQ(decoder.used(), 0u);
  EXPECT_TRUE(events.empty());
}

struct OneRecord {
  ExtendedKind kind;
  std::vector<std::uint64_t> words;
};

Decoded decode_one_record(const OneRecord& record) {
  std::vector<EventWord> words = {
      at(make_extended(record.kind, static_cast<unsigned>(record.words.size())), 7)};
  words.insert(words.end(), record.words.begin(), record.words.end());
  return decode(words, 100);
}

// The offset is a separate event before the event that it belongs to.
TEST(SegmentDecoder, DecodesInputAndOutput) {
  struct Case {
    OneRecord record;
    std::vector<Event> events;
  };
  const Timestamp time{107};
  const std::uint64_t modes = io_modes(IoAccess::kReadWrite, 3, 5);
  const Case cases[] = {
      {{ExtendedKind::kIoCreate, {4, modes}}, {{time, EventKind::kIoCreate, 4, modes}}},
      {{ExtendedKind::kIoDestroy, {4}}, {{time, EventKind::kIoDestroy, 4, 0}}},
      {{ExtendedKind::kIoDuplicate, {4, io_word(9, 2)}},
       {{time, EventKind::kIoDuplicate, 4, io_word(9, 2)}}},
      {{ExtendedKind::kIoSeek, {io_word(4, 2), 10, 90}},
       {{time, EventKind::kIoOffset, 2, 10}, {time, EventKind::kIoSeek, 4, 90}}},
      {{ExtendedKind::kIoBegin, {io_word(4, 0), 64}}, {{time, EventKind::kIoRead, 4, 64}}},
      {{ExtendedKind::kIoBegin, {io_word(4, 1), 64, 8}},
       {{time, EventKind::kIoOffset, 0, 8}, {time, EventKind::kIoWrite, 4, 64}}},
      {{ExtendedKind::kIoComplete, {io_word(4, 2), kNoBytes}},
       {{time, EventKind::kIoFlushDone, 4, kNoBytes}}},
      {{ExtendedKind::kIoDelete, {io_word(12, 1)}}, {{time, EventKind::kIoDelete, 1, 12}}},
      {{ExtendedKind::kIoStatusFlags, {4, 6}}, {{time, EventKind::kIoStatusFlags, 4, 6}}},
  };
  for (const Case& one : cases) {
    const Decoded expected{one.events, 107, 1 + one.record.words.size()};
    EXPECT_EQ(decode_one_record(one.record), expected) << static_cast<int>(one.record.kind);
    OneRecord longer = one.record;  // by one word too many
    longer.words.insert(longer.words.end(), 3, 0);
    EXPECT_TRUE(decode_one_record(longer).events.empty());
  }
  EXPECT_TRUE(decode_one_record({ExtendedKind::kIoBegin, {io_word(4, 3), 64}}).events.empty());
}

// An attribute is not an event.
TEST(SegmentDecoder, DecodesAttributesOfCallsThatAllocate) {
  for (std::uint32_t which = 16; which <= 19; ++which) {
    const Decoded expected{{{Timestamp{107}, EventKind::kOperand, which, 1000}}, 107, 3};
    EXPECT_EQ(decode_one_record({ExtendedKind::kAttribute, {which, 1000}}), expected);
  }
  for (const std::uint64_t other : {15u, 20u}) {
    EXPECT_TRUE(decode_one_record({ExtendedKind::kAttribute, {other, 1000}}).events.empty());
  }
  EXPECT_TRUE(decode_one_record({ExtendedKind::kAttribute, {16}}).events.empty());
  EXPECT_FALSE(is_event(make_extended(ExtendedKind::kAttribute, 2)));
}

TEST(SegmentDecoder, DecodesTeamsAndTheirTasks) {
  struct Case {
    OneRecord record;
    EventKind kind;
    std::uint32_t ref;
  };
  const Case cases[] = {
      {{ExtendedKind::kTeamFork, {9, 4}}, EventKind::kTeamFork, 4},
      {{ExtendedKind::kTeamJoin, {9}}, EventKind::kTeamJoin, 0},
      {{ExtendedKind::kTeamBegin, {9, 3}}, EventKind::kTeamBegin, 3},
      {{ExtendedKind::kTeamEnd, {9}}, EventKind::kTeamEnd, 0},
      {{ExtendedKind::kTaskCreate, {9}}, EventKind::kTaskCreate, 0},
      {{ExtendedKind::kTaskSwitch, {9}}, EventKind::kTaskSwitch, 0},
      {{ExtendedKind::kTaskComplete, {9}}, EventKind::kTaskComplete, 0},
  };
  for (const Case& one : cases) {
    const Decoded expected{
        {{Timestamp{107}, one.kind, one.ref, 9}}, 107, 1 + one.record.words.size()};
    EXPECT_EQ(decode_one_record(one.record), expected) << static_cast<int>(one.record.kind);
    OneRecord longer = one.record;
    longer.words.push_back(0);
    EXPECT_TRUE(decode_one_record(longer).events.empty());
    longer.words.clear();
    EXPECT_TRUE(decode_one_record(longer).events.empty());
  }
  const std::uint64_t too_many = std::uint64_t{1} << 32;
  EXPECT_TRUE(decode_one_record({ExtendedKind::kTeamFork, {9, too_many}}).events.empty());
  EXPECT_TRUE(decode_one_record({ExtendedKind::kTeamBegin, {9, too_many}}).events.empty());
}

// A program may ask for any number of threads, and a runtime count them in any way.
TEST(SegmentDecoder, DecodesTeamsWithTheLargestNumbers) {
  for (const auto& [record, kind] : {std::pair{ExtendedKind::kTeamFork, EventKind::kTeamFork},
                                     std::pair{ExtendedKind::kTeamBegin, EventKind::kTeamBegin}}) {
    const Decoded expected{{{Timestamp{107}, kind, UINT32_MAX, UINT64_MAX}}, 107, 3};
    EXPECT_EQ(decode_one_record({record, {UINT64_MAX, UINT32_MAX}}), expected);
  }
}

}  // namespace
}  // namespace timeloom::spool
