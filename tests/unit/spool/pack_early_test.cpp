// Segments that the drain packs while the program runs.
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "damage_fixture.hpp"
#include "spool/early_packing.hpp"

namespace timeloom::spool {
namespace {

class PackEarlyTest : public DamageTest {
 protected:
  static WriterOptions packing(std::uint64_t segments = 16, PackEarly when = PackEarly::kAlways) {
    WriterOptions options = small(segments);
    options.pack_early = when;
    return options;
  }
  // Calls of a thread, until the drain has packed so many bytes of records.
  void call_until_packed(Pen& pen, std::uint64_t bytes) {
    while (writer_->packed_records() < bytes) {
      for (std::uint32_t i = 0; i < 200; ++i) {
        pen.enter(time_ += 3, i % 7);
        pen.leave(time_ += 2, i % 7);
      }
      std::this_thread::yield();
    }
  }
  std::uint64_t size_of_log() const { return std::filesystem::file_size(path() + "/log"); }
};

TEST_F(PackEarlyTest, EveryEventComesBackFromLessSpace) {
  Pen pen(create(packing()), 0);
  call_until_packed(pen, 1 << 20);
  pen.retire();
  const Found found = close_and_read();
  EXPECT_EQ(found.events.at(0), pen.lines());
  EXPECT_EQ(found.damage, 0u);
  const auto reader = Reader::open(path());
  EXPECT_TRUE(reader->complete());
  EXPECT_EQ(reader->packed().records, writer_->packed_records());
  EXPECT_LT(6 * writer_->packed_bytes(), writer_->packed_records());
  EXPECT_EQ(size_of_log(), reader->definitions().log_size);
  EXPECT_LE(size_of_log(), writer_->packed_bytes() + writer_->bytes() - writer_->packed_records() +
                               64 * (pen.segments().size()));
}

TEST_F(PackEarlyTest, AKilledProgramLosesNothingAtAnyMoment) {
  Pen pen(create(packing()), 0);
  for (std::uint64_t moment = 1; moment <= 40; ++moment) {
    call_until_packed(pen, moment * 3000);
    const Found found = read_as_if_killed();
    ASSERT_EQ(found.events.at(0), pen.lines());
    ASSERT_EQ(found.damage, 0u);
  }
}

// Threads that need segments faster than the drain packs take these from it.
TEST_F(PackEarlyTest, ADrainThatFallsBehindIsHelped) {
  WriterOptions options = packing(2);
  options.ring_limit = options.ring_size;
  Pen pen(create(options), 0);
  for (std::uint32_t i = 0; i < 200'000; ++i) pen.enter(i, i % 100);
  pen.retire();
  ASSERT_FALSE(pen.out_of_space());
  const Found found = close_and_read();
  EXPECT_EQ(found.events.at(0), pen.lines());
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(PackEarlyTest, ThreadsAtTheSameTimeHaveTheirEvents) {
  Writer& writer = create(packing(8));
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 4; ++i) pens_.push_back(std::make_unique<Pen>(writer, i));
  for (std::uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([pen = pens_[i].get(), i] {
      for (std::uint32_t k = 0; k < 50'000; ++k) pen->enter(10 * k, (i + k) % 50);
      pen->retire();
    });
  }
  for (auto& thread : threads) thread.join();
  const Found found = close_and_read();
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(found.events.at(i), pens_[i]->lines());
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(PackEarlyTest, OnAFullDiskInTheMiddleOfABlockNothingIsLostThatWasRecorded) {
  Writer& writer = create(packing());
  Pen pen(writer, 0);
  call_until_packed(pen, 40'000);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  // More than the ring has already, and less than the log will have.
  const std::uint64_t ring = std::filesystem::file_size(path() + "/ring");
  const struct rlimit limit { std::max(ring, size_of_log() + 100), before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &limit);
  for (std::uint32_t i = 0; !pen.out_of_space(); ++i) pen.enter(time_ += i % 3, i % 9);
  EXPECT_EQ(writer.error(), EFBIG);
  const Found killed = read_as_if_killed();
  writer.close();
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(killed.events.at(0), pen.lines());
  const Found found = read();
  EXPECT_EQ(found.events.at(0), pen.lines());
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(PackEarlyTest, AFlippedByteCostsOneSegmentAtMost) {
  record(packing(8));
  ASSERT_GT(writer_->packed_records(), 0u);
  take("flipped");
  flip_each_byte_of_the_log([](const Found&) {});
}

TEST_F(PackEarlyTest, OfALogThatIsCutTheWholeSegmentsAreRead) {
  record(packing(8));
  ASSERT_GT(writer_->packed_records(), 0u);
  for (auto& pen : pens_) pen->retire();
  writer_->close();
  take("cut");
  cut_the_log_at_each_byte();
}

// Segments of the log, with their places.
std::vector<std::string> segments_of(const std::string& log) {
  std::vector<std::string> result;
  for (std::size_t offset = 0; offset < log.size();) {
    PackedHeader header{};
    std::memcpy(&header, log.data() + offset, sizeof header);
    const bool packed = header.magic == kPackedMagic;
    const std::size_t size =
        sizeof header + (packed ? bytes_in_log(header.stored) : std::uint64_t{header.size});
    result.push_back(log.substr(offset, size));
    offset += size;
  }
  return result;
}

TEST_F(PackEarlyTest, SegmentsThatAreSwappedOrRepeatedAreReadOnceAndInOrder) {
  record(packing(8));
  for (auto& pen : pens_) pen->retire();
  writer_->close();
  take("swapped");
  std::vector<std::string> segments = segments_of(sound_.files.at("log"));
  ASSERT_EQ(segments.size(), 6u);
  std::string log;
  for (auto one = segments.rbegin(); one != segments.rend(); ++one) log += *one;
  test::write_bytes(victim_ + "/log", log);
  EXPECT_EQ(read_victim()->events, truth_.events);
  test::write_bytes(victim_ + "/log", log + segments[2] + segments[3]);
  EXPECT_EQ(read_victim()->events, truth_.events);
}

// A head with a sound seal that claims other sizes: what it claims is neither allocated nor
// believed.
TEST_F(PackEarlyTest, ASegmentWithOtherSizesThanItClaimsIsCountedAsDamage) {
  record(packing(8));
  ASSERT_GT(writer_->packed_records(), 0u);
  for (auto& pen : pens_) pen->retire();
  writer_->close();
  take("claims");
  const std::vector<std::string> segments = segments_of(sound_.files.at("log"));
  for (const std::uint32_t size :
       {0u, 8u, 4096u, kMaxSegmentSize, kMaxSegmentSize + 8, UINT32_MAX - 7}) {
    std::string log;
    for (std::string segment : segments) {
      PackedHeader header{};
      std::memcpy(&header, segment.data(), sizeof header);
      if (header.magic == kPackedMagic) {
        header.size = size;
        header.seal = packed_seal(header.check, header.size, header.records, header.stored);
        std::memcpy(segment.data(), &header, sizeof header);
      }
      log += segment;
    }
    test::write_bytes(victim_ + "/log", log);
    const auto found = read_victim();
    ASSERT_TRUE(found.has_value());
    EXPECT_GT(found->damage, 0u) << size;
    EXPECT_LT(events_in(*found), events_in(truth_));
  }
}

TEST_F(PackEarlyTest, WhereItIsRefusedNothingIsPacked) {
  WriterOptions options = packing(16, PackEarly::kNever);
  options.size_limit = {1 << 30, AtLimit::kStop};
  Pen pen(create(options), 0);
  for (std::uint32_t i = 0; i < 100'000; ++i) pen.enter(i, i % 100);
  pen.retire();
  writer_->close();
  const auto reader = Reader::open(path());
  EXPECT_EQ(reader->packed().records, 0u);
}

TEST_F(PackEarlyTest, ARunWithASizeLimitHoldsMoreEvents) {
  std::map<PackEarly, std::uint64_t> kept;
  for (const PackEarly when : {PackEarly::kNever, PackEarly::kAsNeeded}) {
    WriterOptions options = packing(16, when);
    options.size_limit = {1 << 19, AtLimit::kStop};
    const std::string spool = directory_ / ("run-" + std::to_string(static_cast<int>(when)) + "/p");
    std::filesystem::create_directories(std::filesystem::path(spool).parent_path());
    const auto writer = Writer::create(spool, options);
    Pen pen(*writer, 0);
    for (std::uint32_t i = 0; !pen.out_of_space(); ++i) {
      pen.enter(3 * i, i % 100);
      if (i % 500 == 0) ::usleep(200);  // as a program that does something else, too
    }
    EXPECT_TRUE(writer->at_limit());
    kept[when] = pen.lines().size();
    writer->close();
    EXPECT_EQ(read_spool(spool).events.at(0), pen.lines());
  }
  EXPECT_GT(kept[PackEarly::kAsNeeded], 3 * kept[PackEarly::kNever]);
}

TEST_F(PackEarlyTest, TheNewestEventsThatAreKeptAreCounted) {
  WriterOptions options = packing(16, PackEarly::kAsNeeded);
  options.size_limit = {1 << 19, AtLimit::kKeepNewest};
  const std::string spools = directory_ / "run";
  std::filesystem::create_directories(spools);
  const auto writer = Writer::create(spools + "/p", options);
  Pen pen(*writer, 0);
  for (std::uint32_t i = 0; writer->dropped() == 0 || i % 10'000 != 0; ++i)
    pen.enter(3 * i, i % 100);
  pen.retire();
  writer->close();
  EXPECT_GT(writer->packed_records(), 0u);
  const Found found = read_spool(spools + "/p");
  EXPECT_EQ(found.damage, 0u);
  const Lines kept = found.events.at(0), all = pen.lines();
  EXPECT_TRUE(std::equal(kept.rbegin(), kept.rend(), all.rbegin()));
  const auto reader = Reader::open(spools + "/p");
  EXPECT_EQ(reader->definitions().dropped_events + kept.size(), all.size());
}

TEST(PackEarly, IsNeededOnADiskThatFills) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  EXPECT_FALSE(is_filling(kGiB, 2 * kGiB));
  EXPECT_TRUE(is_filling(kGiB / 10, 2 * kGiB));
  EXPECT_FALSE(is_filling(20 * kGiB, 1000 * kGiB));
  EXPECT_TRUE(is_filling(3 * kGiB, 1000 * kGiB));
  EXPECT_TRUE(is_filling(kGiB / 8, kGiB / 8));
  EXPECT_FALSE(is_filling(kGiB / 2, kGiB / 2));
}

TEST(PackEarly, IsWantedFromALargeLogOn) {
  int error = 0;
  const os::File file = os::File::open_read("/proc/self/status", &error);
  EarlyPacking never(PackEarly::kNever, true), needed(PackEarly::kAsNeeded, false),
      limited(PackEarly::kAsNeeded, true), always(PackEarly::kAlways, false);
  EXPECT_FALSE(never.is_wanted(file, 2 * kLargeLog));
  EXPECT_TRUE(limited.is_wanted(file, 0));
  EXPECT_TRUE(always.is_wanted(file, 0));
  EXPECT_FALSE(needed.is_wanted(file, 0));
  EXPECT_TRUE(needed.is_wanted(file, kLargeLog));
  EXPECT_TRUE(needed.is_wanted(file, kLargeLog + 1));
}

}  // namespace
}  // namespace timeloom::spool
