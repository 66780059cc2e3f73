#include "core/event_word.hpp"

#include <gtest/gtest.h>

namespace timeloom {
namespace {

TEST(EventWord, HoldsKindRegionAndTimeSideBySide) {
  const EventWord word = at(make_word(WordKind::kEnter, 0x2345678), 0xabcdef012);
  EXPECT_EQ(kind_of(word), WordKind::kEnter);
  EXPECT_EQ(payload_of(word), 0x2345678u);
  EXPECT_EQ(delta_of(word), 0xabcdef012u);
  EXPECT_EQ(word, (std::uint64_t{0xabcdef012} << 28) | (std::uint64_t{0x2345678} << 2) | 1);
}

TEST(EventWord, KeepsTheLargestOfEach) {
  const EventWord word = at(make_word(WordKind::kLeave, kMaxPayload), kMaxDelta);
  EXPECT_EQ(kind_of(word), WordKind::kLeave);
  EXPECT_EQ(payload_of(word), kMaxPayload);
  EXPECT_EQ(delta_of(word), kMaxDelta);
}

TEST(EventWord, EveryBitBelongsToOneField) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const EventWord word = EventWord{1} << bit;
    const int fields =
        (kind_of(word) != WordKind::kEnd) + (payload_of(word) != 0) + (delta_of(word) != 0);
    EXPECT_EQ(fields, 1) << "bit " << bit;
  }
}

TEST(EventWord, AFlipTurnsAnEnterIntoItsLeave) {
  for (const std::uint32_t region : {0u, 1u, 77u, kMaxPayload}) {
    const EventWord enter = make_word(WordKind::kEnter, region);
    EXPECT_EQ(enter ^ kEnterLeaveFlip, make_word(WordKind::kLeave, region));
    EXPECT_EQ(enter ^ kEnterLeaveFlip ^ kEnterLeaveFlip, enter);
  }
}

TEST(EventWord, AnExtendedRecordSaysItsKindAndLength) {
  const EventWord word = at(make_extended(ExtendedKind::kMetric, 2), 99);
  EXPECT_EQ(kind_of(word), WordKind::kExtended);
  EXPECT_EQ(extended_kind_of(word), ExtendedKind::kMetric);
  EXPECT_EQ(extended_words_of(word), 2u);
  EXPECT_EQ(delta_of(word), 99u);
}

TEST(EventWord, NoRecordIsZero) {
  EXPECT_NE(make_word(WordKind::kEnter, 0), 0u);
  EXPECT_NE(make_word(WordKind::kLeave, 0), 0u);
  EXPECT_NE(make_extended(ExtendedKind::kRecordingOff, 0), 0u);
}

TEST(EventWord, WhatIsNoEventIsNotCounted) {
  const EventWord words[] = {
      make_extended(ExtendedKind::kOpenRegions, 2),
      1,
      2,  // looks like an enter and a leave
      make_extended(ExtendedKind::kTrack, 1),
      5,
      make_word(WordKind::kEnter, 1),
      make_extended(ExtendedKind::kMetric, 2),
      1,
      2,
      make_extended(ExtendedKind::kTimeBase, 1),
      1,
      make_extended(ExtendedKind::kTrackEnd, 0),
      make_extended(ExtendedKind::kSamples, 2),  // a separate event in a trace
      1,
      2,
      make_word(WordKind::kLeave, 1),
      make_extended(ExtendedKind::kRecordingOff, 0),
  };
  EXPECT_EQ(count_events(words), 5u);
}

}  // namespace
}  // namespace timeloom
