// Damaged spools of programs that ended, and directories that are not spools.
#include "damage_fixture.hpp"

namespace timeloom::spool {
namespace {

class EndedSpool : public DamageTest {
 protected:
  void SetUp() override {
    record();
    for (auto& pen : pens_) pen->retire();
    writer_->close();
    take("ended");
    ASSERT_TRUE(truth_.ended);
    ASSERT_FALSE(sound_.files.contains("ring"));
  }
};

TEST_F(EndedSpool, AnyByteOfTheLogFlipped) {
  flip_each_byte_of_the_log(
      [this](const Found& found) { EXPECT_EQ(found.definitions, truth_.definitions); });
}

TEST_F(EndedSpool, TheLogCutAnywhere) { cut_the_log_at_each_byte(); }

TEST_F(EndedSpool, AnyByteOfTheDefinitionsFlipped) {
  flip_each_byte("defs", 0, SIZE_MAX, [this](const std::optional<Found>& found) {
    if (!found) return;  // in the head: no times without it
    EXPECT_EQ(found->events, truth_.events);
    expect_true_definitions(*found);
    EXPECT_GT(found->damage, 0u);
    // Only the damaged record is missing.
    EXPECT_GE(found->definitions.size() + 3, truth_.definitions.size());
  });
}

TEST_F(EndedSpool, TheDefinitionsCutAnywhere) {
  cut_at_each_byte("defs", 0, [this](const std::optional<Found>& found, std::size_t size) {
    EXPECT_EQ(found.has_value(), size >= sizeof(DefsHeader));
    if (!found) return;
    EXPECT_EQ(found->events, truth_.events);
    expect_true_definitions(*found);
    EXPECT_FALSE(found->ended);
  });
}

TEST_F(EndedSpool, RubbishBehindTheEndIsCounted) {
  for (const char* name : {"defs", "log"}) {
    test::write_bytes(victim_ + "/" + name, sound_.files.at(name) + std::string(300, 'x'));
    const auto found = read_victim();
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->events, truth_.events);
    EXPECT_EQ(found->definitions, truth_.definitions);
    EXPECT_GT(found->damage, 0u) << name;
    test::write_bytes(victim_ + "/" + name, sound_.files.at(name));
  }
}

TEST_F(EndedSpool, AHoleOfAnySizeCostsTheSegmentsItTouches) {
  const std::string& log = sound_.files.at("log");
  const std::size_t segment = log.size() / 6;
  for (std::size_t size = 1; size < 3 * segment; size += 37) {
    std::string damaged = log;
    std::fill_n(damaged.begin() + static_cast<long>(segment + 8), size, '\xee');
    test::write_bytes(victim_ + "/log", damaged);
    const auto found = read_victim();
    ASSERT_TRUE(found.has_value());
    expect_whole_segments(*found);
    EXPECT_GE(events_in(*found), 20 * (6 - 2 - (size + segment) / segment)) << size;
  }
}

TEST_F(EndedSpool, AFileThatIsMissingIsCounted) {
  std::filesystem::remove(victim_ + "/log");
  const auto found = read_victim();
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->events.empty());
  EXPECT_GT(found->damage, 0u);
  std::filesystem::remove(victim_ + "/defs");
  EXPECT_THROW(Reader::open(victim_), Error);
}

TEST_F(EndedSpool, AnotherVersionIsRefusedByName) {
  std::string defs = sound_.files.at("defs");
  defs[8] = 4;
  const std::uint32_t check = checksum(reinterpret_cast<const std::byte*>(defs.data()), 12);
  std::memcpy(&defs[12], &check, sizeof check);
  test::write_bytes(victim_ + "/defs", defs);
  try {
    Reader::open(victim_);
    FAIL();
  } catch (const Error& error) {
    const std::string line = error.what();
    EXPECT_NE(line.find("spool format 4, this one reads 2 to 3"), std::string::npos) << line;
  }
}

TEST_F(EndedSpool, OfTheVersionWithoutPackedSegmentsIsRead) {
  std::string defs = sound_.files.at("defs");
  defs[8] = 2;
  const std::uint32_t check = checksum(reinterpret_cast<const std::byte*>(defs.data()), 12);
  std::memcpy(&defs[12], &check, sizeof check);
  test::write_bytes(victim_ + "/defs", defs);
  EXPECT_EQ(read_victim()->events, truth_.events);
}

TEST_F(DamageTest, ADirectoryWithoutASpoolIsAnError) {
  EXPECT_THROW(Reader::open(directory_ / "none"), Error);
  std::filesystem::create_directory(path());
  EXPECT_THROW(Reader::open(path()), Error);
  test::write_bytes(path() + "/defs", "");
  EXPECT_THROW(Reader::open(path()), Error);
  test::write_bytes(path() + "/defs", "anything that is long enough for a head");
  EXPECT_THROW(Reader::open(path()), Error);
  std::filesystem::remove(path() + "/defs");
  std::filesystem::create_directory(path() + "/defs");
  EXPECT_THROW(Reader::open(path()), Error);
}

// As if it were missing: regions open at that time are entered at the start of the next segment.
TEST_F(DamageTest, AFirstSegmentThatIsNotSoundLeavesWhatItOpened) {
  Pen pen(create(), 0);
  pen.enter(100, 1);
  pen.enter(101, 2);
  pen.retire();
  const std::uint64_t open = (std::uint64_t{2} << 32) | 1;
  pen.raw(200, make_extended(ExtendedKind::kOpenRegions, 1), {open});
  pen.leave(201, 2);
  pen.leave(202, 1);
  pen.retire();
  EXPECT_EQ(close_and_read().events.at(0), pen.lines());
  std::string log = test::read_bytes(path() + "/log");
  log[sizeof(SegmentHeader)] ^= 1;
  test::write_bytes(path() + "/log", log);
  const Found found = read();
  EXPECT_EQ(found.events.at(0),
            (Lines{"200 enter 1", "200 enter 2", "201 leave 2", "202 leave 1"}));
  EXPECT_EQ(found.damage, 1u);
}

// Half of the space exists but has no record.
TEST_F(DamageTest, KilledWhileItsRingIsMade) {
  create();
  Snapshot young = Snapshot::of(path());
  victim_ = directory_ / "young";
  for (const std::string& ring : {std::string(), std::string(65536, '\0')}) {
    young.files["ring"] = ring;
    young.write_to(victim_);
    const Found found = *read_victim();
    EXPECT_TRUE(found.events.empty());
    EXPECT_EQ(found.damage, 0u);
  }
  young.files.erase("ring");
  std::filesystem::remove(victim_ + "/ring");
  EXPECT_EQ(read_victim()->damage, 0u);
}

}  // namespace
}  // namespace timeloom::spool
