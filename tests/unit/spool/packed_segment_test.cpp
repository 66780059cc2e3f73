// Records that are packed come back word for word, and other bytes are refused.
#include "spool/packed_segment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/event_word.hpp"

namespace timeloom::spool {
namespace {

using packing::Bytes;
using Words = std::vector<EventWord>;

constexpr EventWord enter(std::uint32_t region, std::uint64_t delta) {
  return at(make_word(WordKind::kEnter, region), delta);
}
constexpr EventWord leave(std::uint32_t region, std::uint64_t delta) {
  return at(make_word(WordKind::kLeave, region), delta);
}
void put(Words& words, ExtendedKind kind, std::uint64_t delta, const Words& behind) {
  words.push_back(at(make_extended(kind, static_cast<unsigned>(behind.size())), delta));
  words.insert(words.end(), behind.begin(), behind.end());
}

// Calls of some functions, some of them deep, with a step of the counter between two records.
Words calls(std::size_t count, std::uint32_t regions, std::uint64_t step) {
  std::mt19937 random(7);
  Words words;
  std::vector<std::uint32_t> open;
  std::uint64_t time = 0;
  while (words.size() < count) {
    time += step * (1 + random() % 4);
    if (open.empty() || (random() % 2 == 0 && open.size() < 20)) {
      open.push_back(static_cast<std::uint32_t>(random() % regions));
      words.push_back(enter(open.back(), time));
    } else {
      words.push_back(leave(open.back(), time));
      open.pop_back();
    }
  }
  return words;
}

Bytes packed(const Words& words) {
  SegmentPacker packer;
  Bytes bytes;
  EXPECT_TRUE(packer.pack(words, bytes));
  return bytes;
}

Words unpacked(const Bytes& bytes, std::size_t size) {
  SegmentUnpacker unpacker;
  Words words;
  EXPECT_TRUE(unpacker.unpack(bytes, size, words));
  return words;
}

void expect_back(const Words& words) { EXPECT_EQ(unpacked(packed(words), words.size()), words); }

TEST(PackedSegment, HasTheSameCalls) {
  for (const std::uint32_t regions : {1u, 10u, 300u, 70'000u, kMaxPayload}) {
    expect_back(calls(20'000, regions, 26));
  }
}

TEST(PackedSegment, TakesAByteForAnEvent) {
  const Words words = calls(32'760, 100, 1);
  EXPECT_LT(packed(words).size(), words.size() * 5 / 4);
}

// As in a segment that a thread has begun inside of calls, and after an event that was lost.
TEST(PackedSegment, HasLeavesOfRegionsThatItDoesNotEnter) {
  Words words;
  for (std::uint32_t i = 0; i < 100; ++i) {
    words.push_back(leave(i, 10 * i));
    words.push_back(enter(3, 10 * i + 1));
    words.push_back(enter(4, 10 * i + 2));
    words.push_back(leave(3, 10 * i + 3));
    words.push_back(leave(4, 10 * i + 4));
  }
  expect_back(words);
}

TEST(PackedSegment, HasTimesOfEverySizeAndStepsBackwards) {
  Words words;
  for (unsigned bits = 0; bits < kTimeBits; ++bits) {
    for (const std::uint64_t off : {0u, 1u, 247u, 248u, 255u}) {
      words.push_back(enter(1, ((std::uint64_t{1} << bits) + off) & kMaxDelta));
      words.push_back(leave(1, ((std::uint64_t{1} << bits) / 2) & kMaxDelta));
    }
  }
  expect_back(words);
}

TEST(PackedSegment, HasEveryOtherRecord) {
  std::mt19937_64 random(3);
  Words words = calls(200, 5, 10);
  for (unsigned kind = 0; kind < 96; ++kind) {
    for (const unsigned count : {0u, 1u, 2u, 5u, 255u}) {
      Words behind(count);
      for (EventWord& word : behind) word = random() >> random() % 64;
      put(words, static_cast<ExtendedKind>(kind), 10'000 + kind, behind);
      words.push_back(enter(kind, 10'000 + kind));
    }
  }
  for (int i = 0; i < 3000; ++i) words.push_back(enter(7, 20'000));
  expect_back(words);
}

TEST(PackedSegment, HasTheCallsOfTracksThatTakeTurns) {
  Words words;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    put(words, ExtendedKind::kTrack, 100 * i, {i % 7});
    words.push_back(enter(static_cast<std::uint32_t>(i % 7), 100 * i + 5));
    put(words, ExtendedKind::kTrack, 100 * i + 9, {(i + 1) % 7});
    if (i > 20) words.push_back(leave(static_cast<std::uint32_t>((i + 1) % 7), 100 * i + 12));
  }
  expect_back(words);
  EXPECT_LT(packed(words).size(), words.size());
}

TEST(PackedSegment, KeepsNothingOfTheOneBefore) {
  SegmentPacker packer;
  SegmentUnpacker unpacker;
  for (const std::uint32_t regions : {5u, 4000u, 50u}) {
    const Words words = calls(3000 + regions, regions, 10);
    Bytes bytes;
    ASSERT_TRUE(packer.pack(words, bytes));
    Words found;
    ASSERT_TRUE(unpacker.unpack(bytes, words.size(), found));
    EXPECT_EQ(found, words);
    EXPECT_EQ(bytes, packed(words));
  }
}

TEST(PackedSegment, StaysAsItIsIfItHasOtherWordsOrGetsNoSmaller) {
  SegmentPacker packer;
  Bytes bytes;
  Words words = calls(100, 5, 10);
  words[50] = 0;
  EXPECT_FALSE(packer.pack(words, bytes));
  words[50] = make_extended(ExtendedKind::kMetric, 60);  // more words than there are
  EXPECT_FALSE(packer.pack(words, bytes));
  words[50] = make_extended(static_cast<ExtendedKind>(200), 1);
  EXPECT_FALSE(packer.pack(words, bytes));
  words[50] = make_word(WordKind::kExtended, 1 << 20);
  EXPECT_FALSE(packer.pack(words, bytes));
  std::mt19937_64 random(3);
  Words noise;
  for (int i = 0; i < 100; ++i)
    put(noise, ExtendedKind::kMetric, random() & kMaxDelta, {random(), random()});
  EXPECT_FALSE(packer.pack(noise, bytes));
  words = calls(1000, 5, 10);
  bytes.clear();
  EXPECT_TRUE(packer.pack(words, bytes));
  EXPECT_EQ(unpacked(bytes, words.size()), words);
}

TEST(PackedSegment, ThatIsCutOrChangedNeverHasMoreWordsThanItShould) {
  Words words = calls(600, 300, 1000);
  put(words, ExtendedKind::kMetric, 1 << 20, {3, 4});
  put(words, ExtendedKind::kTrack, 1 << 20, {2});
  const Bytes sound = packed(words);
  SegmentUnpacker unpacker;
  Words found;
  for (std::size_t size = 0; size < sound.size(); ++size) {
    EXPECT_FALSE(unpacker.unpack(packing::ByteSpan(sound).first(size), words.size(), found));
    EXPECT_TRUE(found.empty());
  }
  for (std::size_t i = 0; i < sound.size(); ++i) {
    for (const unsigned change : {1u, 128u, 255u}) {
      Bytes damaged = sound;
      damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ change);
      const bool whole = unpacker.unpack(damaged, words.size(), found);
      EXPECT_EQ(found.size(), whole ? words.size() : 0);
    }
  }
  for (const std::size_t claimed :
       {std::size_t{0}, words.size() - 1, words.size() + 1, std::size_t{1} << 21}) {
    EXPECT_FALSE(unpacker.unpack(sound, claimed, found));
  }
}

}  // namespace
}  // namespace timeloom::spool
