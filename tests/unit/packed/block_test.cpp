#include <gtest/gtest.h>

#include "core/error.hpp"
#include "formats/packed/block_packer.hpp"
#include "formats/packed/block_unpacker.hpp"
#include "packed_story.hpp"

namespace timeloom::packed {
namespace {

using enum EventKind;

Event event(std::uint64_t time, EventKind kind, std::uint32_t ref = 0, std::uint64_t value = 0) {
  return {Timestamp{time}, kind, ref, value};
}

std::vector<PackedBlock> packed(const Definitions& definitions, std::span<const Event> events) {
  BlockPacker packer(definitions);
  std::vector<PackedBlock> blocks;
  while (!events.empty()) {
    events = events.subspan(packer.add(events));
    if (packer.full()) blocks.push_back(packer.take());
  }
  if (!packer.empty()) blocks.push_back(packer.take());
  return blocks;
}

TEST(Block, HoldsEveryEvent) {
  const Definitions definitions = story_definitions();
  const std::vector<Event> events = story_events(3, 100'000);
  const std::vector<PackedBlock> blocks = packed(definitions, events);
  EXPECT_EQ(blocks.size(), 4u);
  BlockUnpacker unpacker(definitions);
  std::vector<Event> read;
  std::vector<std::uint32_t> open;
  for (const PackedBlock& block : blocks) {
    ASSERT_TRUE(unpacker.unpack(block, block.body));
    EXPECT_EQ(unpacker.open(), open);
    open = unpacker.open_at_end();
    read.insert(read.end(), unpacker.events().begin(), unpacker.events().end());
  }
  EXPECT_EQ(read, events);
}

TEST(Block, StandsForItself) {
  const Definitions definitions = story_definitions();
  const std::vector<Event> events = story_events(4, 90'000);
  const std::vector<PackedBlock> blocks = packed(definitions, events);
  BlockUnpacker unpacker(definitions);
  ASSERT_TRUE(unpacker.unpack(blocks[1], blocks[1].body));
  const auto begin = events.begin() + kBlockEvents;
  EXPECT_EQ(unpacker.events(), std::vector<Event>(begin, begin + kBlockEvents));
}

TEST(Block, KeepsTheExtremesOfTimesAndValues) {
  const Definitions definitions = story_definitions();
  const std::vector<Event> events = {
      event(0, kEnter, 599),
      event(247, kMetric, 0, UINT64_MAX),
      event(495, kMetric, 0, 0),
      event(495 + 248 + 255, kMetric, 1, 1),
      event(495 + 248 + 512, kThreadBegin, UINT32_MAX, std::uint64_t{1} << 63),
      event(UINT64_MAX - 1, kThreadBegin, 0, 5),
      event(UINT64_MAX, kLeave, 599)};
  const std::vector<PackedBlock> blocks = packed(definitions, events);
  ASSERT_EQ(blocks.size(), 1u);
  BlockUnpacker unpacker(definitions);
  ASSERT_TRUE(unpacker.unpack(blocks[0], blocks[0].body));
  EXPECT_EQ(unpacker.events(), events);
}

TEST(Block, TakesAFewBytesForCallsThatRepeat) {
  const Definitions definitions = story_definitions();
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < kBlockEvents / 2; ++i) {
    events.push_back(event(100 * i, kEnter, static_cast<std::uint32_t>(i % 3)));
    events.push_back(event(100 * i + 40, kLeave, static_cast<std::uint32_t>(i % 3)));
  }
  EXPECT_LT(packed(definitions, events).at(0).body.size(), 300u);
}

TEST(Block, RefusesEventsThatItCannotHold) {
  const Definitions definitions = story_definitions();
  const std::vector<std::vector<Event>> wrong = {{event(5, kEnter, 0), event(4, kLeave, 0)},
                                                 {event(5, kLeave, 0)},
                                                 {event(5, kEnter, 0), event(6, kLeave, 1)},
                                                 {event(5, kEnter, 600)},
                                                 {event(5, kMetric, 2)},
                                                 {event(5, kParameterString, 1, 3)},
                                                 {event(5, kTrack, 0)}};
  for (const std::vector<Event>& events : wrong) {
    BlockPacker packer(definitions);
    EXPECT_THROW(packer.add(events), Error);
  }
}

TEST(Block, ThatClaimsAnotherNumberOfEventsIsDamaged) {
  const Definitions definitions = story_definitions();
  const std::vector<PackedBlock> blocks = packed(definitions, story_events(5, 500));
  BlockUnpacker unpacker(definitions);
  for (const std::uint32_t claimed :
       {0u, blocks[0].events - 1, blocks[0].events + 1, kBlockEvents + 1, UINT32_MAX}) {
    EXPECT_FALSE(unpacker.unpack({claimed, blocks[0].first}, blocks[0].body)) << claimed;
  }
  EXPECT_TRUE(unpacker.unpack(blocks[0], blocks[0].body));
}

// Times do not begin again at 0.
TEST(Block, WhoseTimesOverflowIsDamaged) {
  const Definitions definitions = story_definitions();
  const std::vector<PackedBlock> blocks = packed(definitions, story_events(6, 500));
  BlockUnpacker unpacker(definitions);
  EXPECT_FALSE(unpacker.unpack({blocks[0].events, UINT64_MAX - 10}, blocks[0].body));
}

// Without a checksum: events that are read nevertheless can be given to a sink.
TEST(Block, WithAnyByteChangedIsRefusedOrSound) {
  const Definitions definitions = story_definitions();
  const std::vector<PackedBlock> blocks = packed(definitions, story_events(7, 400));
  BlockUnpacker unpacker(definitions);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < blocks[0].body.size(); ++at) {
    for (const int change : {1, 128, 255}) {
      Bytes body = blocks[0].body;
      body[at] = static_cast<std::uint8_t>(body[at] ^ change);
      if (!unpacker.unpack(blocks[0], body)) {
        ++refused;
        continue;
      }
      ASSERT_TRUE(is_balanced(unpacker.events(), unpacker.open())) << at;
    }
  }
  EXPECT_GT(refused, blocks[0].body.size());
}

TEST(Block, OfARunWithFewerDefinitionsIsDamaged) {
  const std::vector<PackedBlock> blocks = packed(story_definitions(), story_events(8, 5000));
  for (const auto& take : std::vector<std::function<void(Definitions&)>>{
           [](Definitions& all) { all.regions.resize(100); },
           [](Definitions& all) { all.metrics.clear(); },
           [](Definitions& all) { all.strings.clear(); },
           [](Definitions& all) { all.io_handles.clear(); },
           [](Definitions& all) { all.communicators.clear(); }}) {
    Definitions fewer = story_definitions();
    take(fewer);
    BlockUnpacker unpacker(fewer);
    EXPECT_FALSE(unpacker.unpack(blocks[0], blocks[0].body));
  }
}

}  // namespace
}  // namespace timeloom::packed
