// Damaged spools of programs that were killed.
#include "damage_fixture.hpp"

namespace timeloom::spool {
namespace {

class KilledSpool : public DamageTest {
 protected:
  void SetUp() override {
    record();
    take("killed");
    ASSERT_FALSE(truth_.ended);
  }
  // The segments of the ring that contain records.
  std::vector<std::size_t> segments_in_use() const {
    std::vector<std::size_t> result;
    const std::string& ring = sound_.files.at("ring");
    for (std::size_t at = 65536; at < ring.size(); at += 4096) {
      if (ring[at + 4] == 1 || ring[at + 4] == 2) result.push_back(at);
    }
    return result;
  }
};

TEST_F(KilledSpool, AnyByteOfTheLogFlipped) {
  flip_each_byte_of_the_log([](const Found&) {});
}

// The segments in the ring follow those in the log, so a gap is noticed.
TEST_F(KilledSpool, TheLogCutAnywhere) { cut_the_log_at_each_byte(); }

TEST_F(KilledSpool, AnyByteOfAHeadInTheRingFlipped) {
  const auto check = [this](const std::optional<Found>& found) {
    ASSERT_TRUE(found.has_value());
    expect_whole_segments(*found);
  };
  flip_each_byte("ring", 0, 24, check);
  const std::vector<std::size_t> segments = segments_in_use();
  ASSERT_EQ(segments.size(), 2u);
  for (const std::size_t at : segments) {
    flip_each_byte("ring", at, at + sizeof(SegmentHeader), check);
  }
}

// Records that are being written are not protected, so a flip may change an event or end its
// segment. It never affects the log.
TEST_F(KilledSpool, AnyByteOfTheRecordsInTheRingFlipped) {
  for (const std::size_t at : segments_in_use()) {
    flip_each_byte("ring", at + sizeof(SegmentHeader), at + 4096,
                   [this](const std::optional<Found>& found) {
                     ASSERT_TRUE(found.has_value());
                     for (auto& pen : pens_) {
                       const Lines& lines = found->events.at(index_of(pen));
                       const Lines& all = truth_.events.at(index_of(pen));
                       ASSERT_GE(lines.size(), 40u);
                       ASSERT_LE(lines.size(), all.size() + 2);  // a metric's words, read as events
                       EXPECT_TRUE(std::equal(all.begin(), all.begin() + 40, lines.begin()));
                     }
                   });
  }
}

TEST_F(KilledSpool, AnyByteOfAFreeSegmentFlipped) {
  const std::vector<std::size_t> used = segments_in_use();
  const std::size_t end = sound_.files.at("ring").size();
  for (std::size_t at = 65536; at < end; at += 4096) {
    if (std::find(used.begin(), used.end(), at) != used.end()) continue;
    flip_each_byte("ring", at, at + sizeof(SegmentHeader) + 16,
                   [this](const std::optional<Found>& found) {
                     ASSERT_TRUE(found.has_value());
                     EXPECT_EQ(found->events, truth_.events);
                   });
  }
}

TEST_F(KilledSpool, TheRingCutAnywhere) {
  cut_at_each_byte("ring", 65536 - 64, [this](const std::optional<Found>& found, std::size_t) {
    ASSERT_TRUE(found.has_value());
    expect_beginnings(*found);
  });
  for (const std::size_t size : {0, 1, 8, 31, 32, 33, 4096}) {
    test::write_bytes(victim_ + "/ring", sound_.files.at("ring").substr(0, size));
    const auto found = read_victim();
    ASSERT_TRUE(found.has_value());
    expect_beginnings(*found);
    EXPECT_GT(found->damage, 0u) << size;
  }
}

TEST_F(KilledSpool, TheDefinitionsCutAnywhere) {
  cut_at_each_byte("defs", sizeof(DefsHeader),
                   [this](const std::optional<Found>& found, std::size_t) {
                     ASSERT_TRUE(found.has_value());
                     EXPECT_EQ(found->events, truth_.events);
                     expect_true_definitions(*found);
                   });
}

// Killed between two steps of the drain.
TEST_F(KilledSpool, ASegmentInTheLogAndInTheRingIsReadOnce) {
  const std::string& log = sound_.files.at("log");
  std::string ring = sound_.files.at("ring");
  std::uint32_t size = 0;
  std::memcpy(&size, &log[12], sizeof size);
  std::size_t at = 65536;
  while (ring[at + 4] != 0) at += 4096;
  for (const char state : {'\x02', '\x03'}) {  // full, and drained but not yet emptied
    ring.replace(at, 64 + size, log, 0, 64 + size);
    ring[at + 4] = state;
    test::write_bytes(victim_ + "/ring", ring);
    Found found = *read_victim();
    EXPECT_EQ(found.events, truth_.events);
    EXPECT_EQ(found.damage, 0u);
    for (std::size_t i = 0; i < size / 8; ++i) {  // being emptied
      ring.replace(at + 64 + i * 8, 8, 8, '\0');
      test::write_bytes(victim_ + "/ring", ring);
      found = *read_victim();
      ASSERT_EQ(found.events, truth_.events);
      ASSERT_EQ(found.damage, 0u);
    }
  }
}

TEST_F(KilledSpool, AnAppendCutShortIsReadFromTheRing) {
  std::string log = sound_.files.at("log");
  std::string ring = sound_.files.at("ring");
  // Undo the last append: its segment goes back to the ring.
  std::size_t last = 0;
  for (std::size_t at = 0; at < log.size();) {
    std::uint32_t size = 0;
    std::memcpy(&size, &log[at + 12], sizeof size);
    last = at;
    at += 64 + size;
  }
  std::size_t at = 65536;
  while (ring[at + 4] != 0) at += 4096;
  ring.replace(at, log.size() - last, log, last, std::string::npos);
  ring[at + 4] = 2;
  test::write_bytes(victim_ + "/ring", ring);
  for (std::size_t size = last; size <= log.size(); ++size) {
    test::write_bytes(victim_ + "/log", log.substr(0, size));
    const Found found = *read_victim();
    ASSERT_EQ(found.events, truth_.events) << size;
    ASSERT_EQ(found.damage, 0u) << size;
  }
}

}  // namespace
}  // namespace timeloom::spool
