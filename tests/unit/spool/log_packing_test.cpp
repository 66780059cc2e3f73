// Segments that came into a log with a size limit as they were, and are packed there later.
#include "spool/log_packing.hpp"

#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kLimit = 1 << 19;

// While it exists, the drain stands still when it next compares the clocks, and everything comes
// into the log unpacked, by the threads that record.
class StandStill {
 public:
  explicit StandStill(Writer& writer) : writer_(writer) {
    wanted = true;
    writer.on_comparison([]() noexcept {
      for (there = true; wanted; ::usleep(100)) {
      }
      there = false;
    });
    while (!there) ::usleep(100);
  }
  ~StandStill() {
    writer_.on_comparison(nullptr);
    wanted = false;
    while (there) ::usleep(100);
  }
  StandStill(const StandStill&) = delete;
  StandStill& operator=(const StandStill&) = delete;

 private:
  Writer& writer_;
  static inline std::atomic<bool> wanted = false, there = false;
};

class LogPackingTest : public SpoolTest {
 protected:
  std::string spool() const { return directory_ / "run/p"; }
  Writer& begin(AtLimit policy, PackEarly when = PackEarly::kAsNeeded) {
    fs::create_directories(directory_ / "run");
    WriterOptions options = small(16);
    options.pack_early = when;
    options.size_limit = {kLimit, policy};
    writer_ = Writer::create(spool(), options);
    return *writer_;
  }
  void call(Pen& pen, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times && !pen.out_of_space(); ++i) {
      pen.enter(time_ += 3, i % 7);
      pen.leave(time_ += 2, i % 7);
    }
  }
  std::uint64_t bytes_on_disk() const {
    std::uint64_t sum = 0;
    for (const auto& entry : fs::directory_iterator(spool())) {
      const std::string name = entry.path().filename();
      std::error_code gone;
      const std::uint64_t bytes = entry.file_size(gone);
      if (!gone && (name.starts_with("log") || name == kRingName)) sum += bytes;
    }
    return sum;
  }
  void wait_until_packed(std::uint64_t bytes) const {
    while (writer_->packed_records() < bytes) ::usleep(100);
  }
  bool has_raw_file() const {
    const std::uint64_t whole = log_file_size({kLimit, AtLimit::kStop}, small().segment_size);
    for (std::uint32_t number = 0; fs::exists(fs::path(spool()) / log_name(number + 1)); ++number) {
      std::error_code gone;
      const std::uint64_t bytes = fs::file_size(fs::path(spool()) / log_name(number), gone);
      if (!gone && bytes > whole / 2) return true;
    }
    return false;
  }
  // Until all finished files of the log are packed. Gives up on files that stay as they are.
  void wait_for_packing() const {
    for (int i = 0; i < 5 && has_raw_file(); ++i) ::usleep(1000);
  }
  // As a kill would leave it: the ring first, from which segments go to the log.
  Found read_copy() {
    const fs::path copy = directory_ / ("copy-" + std::to_string(copies_++));
    fs::create_directory(copy);
    for (const char* name : {"defs", "ring"}) fs::copy(fs::path(spool()) / name, copy / name);
    for (const auto& entry : fs::directory_iterator(spool())) {
      const std::string name = entry.path().filename();
      const bool log = name.starts_with("log");
      if (log) test::write_bytes(copy / name, test::read_bytes(entry.path()));
    }
    return read_spool(copy);
  }
  std::uint64_t time_ = 0;
};

TEST_F(LogPackingTest, TheLimitActsOnlyWhenAllIsPacked) {
  Writer& writer = begin(AtLimit::kStop);
  Pen pen(writer, 0);
  {
    const StandStill still(writer);
    call(pen, kLimit / 16 * 3 / 4);
  }
  ASSERT_FALSE(pen.out_of_space());
  const std::uint64_t before = writer.bytes();
  while (!pen.out_of_space()) {
    call(pen, 1000);
    wait_for_packing();  // also on a busy machine
    ASSERT_LE(bytes_on_disk(), kLimit);
  }
  EXPECT_TRUE(writer.at_limit());
  EXPECT_GT(writer.bytes(), 4 * before);
  writer.close();
  EXPECT_LE(bytes_on_disk(), kLimit);
  EXPECT_FALSE(fs::exists(spool() + "/" + kLogCopyName));
  const Found found = read_spool(spool());
  EXPECT_EQ(found.events.at(0), pen.lines());
  EXPECT_EQ(found.damage, 0u);
  const auto reader = Reader::open(spool());
  EXPECT_TRUE(reader->complete());
  EXPECT_EQ(reader->packed().records, writer.packed_records());
}

// Nobody packs: the program does not wait for it.
TEST_F(LogPackingTest, RecordingEndsWhereTheDrainDoesNotComeBack) {
  Writer& writer = begin(AtLimit::kStop);
  Pen pen(writer, 0);
  {
    const StandStill still(writer);
    call(pen, kLimit);
    EXPECT_TRUE(writer.at_limit());
    EXPECT_LE(bytes_on_disk(), kLimit);
    expect_no_more_looks(writer);
  }
  writer.close();
  EXPECT_EQ(read_spool(spool()).events.at(0), pen.lines());
}

TEST_F(LogPackingTest, TheNewestEventsAreKeptInLessSpace) {
  Writer& writer = begin(AtLimit::kKeepNewest);
  Pen pen(writer, 0);
  std::uint64_t before = 0;
  {
    const StandStill still(writer);
    call(pen, kLimit / 16 * 3 / 4);
    before = bytes_on_disk();
  }
  wait_until_packed(kLimit / 2);
  EXPECT_LT(bytes_on_disk(), before - kLimit / 4);
  while (writer.bytes() < 2 * kLimit) {
    call(pen, 1000);
    wait_until_packed(writer.bytes() - kLimit / 4);
  }
  EXPECT_EQ(writer.dropped(), 0u);
  while (writer.dropped() == 0) call(pen, 1000);
  pen.retire();
  writer.close();
  EXPECT_LE(bytes_on_disk(), kLimit);
  const Found found = read_spool(spool());
  const Lines kept = found.events.at(0), all = pen.lines();
  EXPECT_EQ(found.damage, 0u);
  EXPECT_TRUE(std::equal(kept.rbegin(), kept.rend(), all.rbegin()));
  EXPECT_EQ(Reader::open(spool())->definitions().dropped_events + kept.size(), all.size());
}

// All of the limit is used by unpacked segments, and the ring is full of others, when the drain
// comes back. The ring grows until there is space in the log.
TEST_F(LogPackingTest, TheDrainMayComeBackWhenTheLimitIsReached) {
  for (const AtLimit policy : {AtLimit::kStop, AtLimit::kKeepNewest}) {
    Writer& writer = begin(policy);
    Pen pen(writer, 0);
    {
      const StandStill still(writer);
      const std::string ring = spool() + "/" + kRingName;
      const std::uint64_t size = fs::file_size(ring);
      while (fs::file_size(ring) == size && !pen.out_of_space()) call(pen, 64);
      ASSERT_FALSE(pen.out_of_space());
      ASSERT_EQ(writer.dropped(), 0u);
    }
    const std::uint64_t before = writer.bytes();
    wait_until_packed(kLimit / 2);
    while (writer.bytes() < 2 * before) {
      call(pen, 1000);
      wait_until_packed(writer.bytes() - kLimit / 4);
      ASSERT_LE(bytes_on_disk(), kLimit);
    }
    EXPECT_EQ(writer.dropped(), 0u);
    EXPECT_FALSE(pen.out_of_space());
    pen.retire();
    writer.close();
    EXPECT_EQ(read_spool(spool()).events.at(0), pen.lines());
    fs::remove_all(spool());
  }
}

TEST_F(LogPackingTest, TheOldestGoWhereTheDrainDoesNotComeBack) {
  Writer& writer = begin(AtLimit::kKeepNewest);
  Pen pen(writer, 0);
  {
    const StandStill still(writer);
    call(pen, kLimit / 4);
    EXPECT_FALSE(pen.out_of_space());
    EXPECT_GT(writer.dropped(), 0u);
    EXPECT_LE(bytes_on_disk(), kLimit);
  }
  pen.retire();
  writer.close();
  const Lines kept = read_spool(spool()).events.at(0), all = pen.lines();
  EXPECT_TRUE(std::equal(kept.rbegin(), kept.rend(), all.rbegin()));
}

TEST_F(LogPackingTest, AReaderFindsWhatIsPackedMeanwhile) {
  for (const AtLimit policy : {AtLimit::kStop, AtLimit::kKeepNewest}) {
    Writer& writer = begin(policy);
    Pen pen(writer, 0);
    std::unique_ptr<Reader> reader;
    {
      const StandStill still(writer);
      call(pen, kLimit / 32);
      reader = Reader::open(spool());
    }
    wait_until_packed(kLimit / 4);
    LocationReader events = reader->read(0);
    EXPECT_EQ(lines_of(events), pen.lines());
    EXPECT_EQ(events.damaged_segments(), 0u);
    pen.retire();
    writer.close();
    fs::remove_all(spool());
  }
}

TEST_F(LogPackingTest, AKillMeanwhileLosesNothing) {
  Writer& writer = begin(AtLimit::kStop);
  Pen pen(writer, 0);
  {
    const StandStill still(writer);
    call(pen, kLimit / 32);
  }
  for (int i = 0; i < 20; ++i) {
    const Found found = read_copy();
    ASSERT_EQ(found.events.at(0), pen.lines());
    ASSERT_EQ(found.damage, 0u);
  }
}

TEST_F(LogPackingTest, ThePausesOfAForkDoNotDisturbIt) {
  Writer& writer = begin(AtLimit::kStop);
  Pen pen(writer, 0);
  {
    const StandStill still(writer);
    call(pen, kLimit / 32);
  }
  for (int i = 0; i < 20; ++i) writer.pause_drain(), writer.resume_drain();
  wait_until_packed(kLimit / 4);
  pen.retire();
  writer.close();
  EXPECT_EQ(read_spool(spool()).events.at(0), pen.lines());
}

class FinishedLog : public LogPackingTest {
 protected:
  void record(bool random = false) {
    Writer& writer = begin(AtLimit::kStop, PackEarly::kNever);
    Pen pen(writer, 0);
    std::uint64_t digits = 1;
    for (std::uint32_t i = 0; i < kLimit / 32; ++i) {
      digits = digits * 6364136223846793005 + 1442695040888963407;
      const auto half = static_cast<std::uint32_t>(digits >> 32);
      if (random) pen.valued(time_ += half % 65536, EventKind::kMetric, half, digits);
      if (!random) pen.enter(++time_, 1);
    }
    pen.retire();
    writer.close();
    lines_ = pen.lines();
  }
  std::uint64_t size_of(std::uint32_t number) const {
    return fs::file_size(fs::path(spool()) / log_name(number));
  }
  // Packs a file whose content must not change.
  void expect_unchanged(std::uint32_t number) {
    const std::string before = test::read_bytes(spool() + "/" + log_name(number));
    packing_.add(number);
    while (packing_.has_work()) EXPECT_FALSE(packing_.step(early_, false).has_space());
    EXPECT_TRUE(test::read_bytes(spool() + "/" + log_name(number)) == before);
    EXPECT_FALSE(fs::exists(spool() + "/" + kLogCopyName));
  }
  KnownDirectory place_{spool()};
  LogPacking packing_{place_};
  EarlyPacking early_{PackEarly::kAlways, true};
  Lines lines_;
};

TEST_F(FinishedLog, HasTheSameEventsInLessSpace) {
  record();
  const std::uint64_t before = size_of(2);
  packing_.add(2);
  LogPacking::Gain gain;
  while (packing_.has_work()) gain = packing_.step(early_, false);
  EXPECT_LT(size_of(2), before / 4);
  EXPECT_EQ(gain.stored, size_of(2));
  EXPECT_GT(gain.records, before * 9 / 10);
  const Found found = read_spool(spool());
  EXPECT_EQ(found.events.at(0), lines_);
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(FinishedLog, StaysAsItIsWhereItWouldGetLittleSmaller) {
  record(true);
  expect_unchanged(3);
}

// A checksum of the damaged records would hide the damage.
TEST_F(FinishedLog, KeepsDamageVisible) {
  record();
  const std::string file = spool() + "/" + log_name(2);
  std::string bytes = test::read_bytes(file);
  bytes[500] ^= 4;
  test::write_bytes(file, bytes);
  expect_unchanged(2);
  bytes[0] ^= 4;
  test::write_bytes(file, bytes);
  expect_unchanged(2);
  EXPECT_GT(read_spool(spool()).damage, 0u);
}

TEST_F(FinishedLog, StaysDroppedWhenTheRunHasDroppedIt) {
  record();
  packing_.add(2);
  EXPECT_FALSE(packing_.step(early_, false).has_space());
  ASSERT_TRUE(fs::exists(spool() + "/" + kLogCopyName));
  const std::string kept = spool() + "/kept", file = spool() + "/" + log_name(2);
  fs::rename(file, kept);
  while (packing_.has_work()) EXPECT_FALSE(packing_.step(early_, false).has_space());
  EXPECT_FALSE(fs::exists(file));
  EXPECT_FALSE(fs::exists(spool() + "/" + kLogCopyName));
}

TEST_F(FinishedLog, IsGivenUpWhereTheRunHasGone) {
  record();
  packing_.add(1);
  packing_.add(2);
  fs::rename(spool(), spool() + "-away");
  EXPECT_FALSE(packing_.step(early_, false).has_space());
  EXPECT_FALSE(packing_.has_work());
}

TEST_F(FinishedLog, IsLeftAloneWhenTheWorkStops) {
  record();
  packing_.add(1);
  packing_.add(2);
  EXPECT_FALSE(packing_.step(early_, false).has_space());
  packing_.stop();
  EXPECT_FALSE(packing_.has_work());
  EXPECT_FALSE(fs::exists(spool() + "/" + kLogCopyName));
  EXPECT_EQ(read_spool(spool()).events.at(0), lines_);
}

}  // namespace
}  // namespace timeloom::spool
