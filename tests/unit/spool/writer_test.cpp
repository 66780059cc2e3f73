// The writer with few resources: segments, space, files.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

// Files cannot grow beyond `bytes` while this object lives; a stand-in for a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const struct rlimit limit { bytes, before_.rlim_max };
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  struct rlimit before_ {};
};

class WriterTest : public SpoolTest {
 protected:
  std::string error_of(const WriterOptions& options) {
    try {
      create(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
};

TEST_F(WriterTest, TheRingGoesWhenAllIsInTheLog) {
  Pen pen(create(), 0);
  pen.enter(1, 1);
  EXPECT_TRUE(exists("ring"));
  pen.retire();
  writer_->close();
  EXPECT_FALSE(exists("ring"));
  EXPECT_EQ(read().events.at(0), pen.lines());
}

TEST_F(WriterTest, TheRingGrowsWhenThreadsHoldAllSegments) {
  Writer& writer = create(small(2));
  std::vector<std::unique_ptr<Pen>> pens;
  for (std::uint32_t i = 0; i < 50; ++i) {
    pens.push_back(std::make_unique<Pen>(writer, i));
    pens.back()->enter(i + 1, i);
  }
  const Found killed = read_as_if_killed();
  for (auto& pen : pens) pen->retire();
  const Found found = close_and_read();
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(killed.events.at(i), pens[i]->lines());
    EXPECT_EQ(found.events.at(i), pens[i]->lines());
  }
  EXPECT_EQ(found.damage, 0u);
  EXPECT_EQ(writer.error(), 0);
}

// The ring of a forked child, which may never need a second segment.
TEST_F(WriterTest, ASmallRingDoublesAsItIsNeeded) {
  const WriterOptions options = small(1);
  Writer& writer = create(options);
  std::vector<std::uint64_t> segments;
  for (std::uint32_t i = 0; i < 4; ++i) {
    ASSERT_NE(writer.acquire(i, 0, 1), nullptr);
    const std::uint64_t size = std::filesystem::file_size(path() + "/ring");
    segments.push_back((size - kRingHeaderSize) / options.segment_size);
  }
  EXPECT_EQ(segments, (std::vector<std::uint64_t>{1, 2, 4, 4}));
}

TEST_F(WriterTest, BeyondItsLimitTheRingGivesNoSegmentButIsNoError) {
  WriterOptions options = small(2);
  options.ring_limit = options.ring_size;
  Writer& writer = create(options);
  Segment* first = writer.acquire(0, 0, 1);
  Segment* second = writer.acquire(1, 0, 1);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(writer.acquire(2, 0, 1), nullptr);
  EXPECT_EQ(writer.error(), 0);
  first->words()[0] = make_word(WordKind::kEnter, 1);
  writer.retire(first, 1);
  Segment* third = writer.acquire(2, 0, 1);  // drained here if not by the drain
  while (third == nullptr) {
    std::this_thread::yield();
    third = writer.acquire(2, 0, 1);
  }
  EXPECT_EQ(third->words()[0], 0u);
  third->words()[0] = make_word(WordKind::kEnter, 1);
  second->words()[0] = make_word(WordKind::kEnter, 1);
  writer.retire(second, 1);
  writer.retire(third, 1);
  EXPECT_EQ(close_and_read().events.size(), 3u);
}

// More segments are retired at once than the drain can take: a thread that needs one helps.
TEST_F(WriterTest, ALaggingDrainIsHelped) {
  WriterOptions options = small(2);
  options.ring_limit = options.ring_size;
  Pen pen(create(options), 0);
  for (std::uint32_t i = 0; i < 100000; ++i) pen.enter(i, i);
  pen.retire();
  ASSERT_FALSE(pen.out_of_space());
  const Found found = close_and_read();
  EXPECT_EQ(found.events.at(0), pen.lines());
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(WriterTest, ASegmentIsEmptyWhenItIsHandedOut) {
  Writer& writer = create(small(2));
  std::size_t words = 0;
  for (std::uint64_t sequence = 0; sequence < 50; ++sequence) {
    Segment* segment = writer.acquire(0, sequence, sequence + 1);
    words = segment->room();
    for (std::size_t i = 0; i < words; ++i) {
      ASSERT_EQ(segment->words()[i], 0u);
      segment->words()[i] = make_word(WordKind::kEnter, 1);
    }
    writer.retire(segment, words);
  }
  EXPECT_EQ(close_and_read().events.at(0).size(), 50 * words);
}

TEST_F(WriterTest, OnAFullDiskWhatIsInTheRingStays) {
  Writer& writer = create();
  Pen pen(writer, 0);
  {
    const FileSizeLimit limit(65536 + 4 * 4096);  // the ring fits, the log will not
    for (std::uint32_t i = 0; !pen.out_of_space(); ++i) pen.enter(i, i);
    writer.count_lost(3);
    EXPECT_EQ(writer.error(), EFBIG);
    expect_no_more_looks(writer);
    const Found killed = read_as_if_killed();
    EXPECT_EQ(killed.lost, 3u);
    EXPECT_EQ(killed.events.at(0), pen.lines());
    writer.close();
  }
  EXPECT_TRUE(exists("ring"));
  const Found found = read();
  EXPECT_TRUE(found.ended);
  EXPECT_EQ(found.lost, 3u);
  EXPECT_EQ(found.damage, 0u);
  EXPECT_EQ(found.events.at(0), pen.lines());
  EXPECT_FALSE(Reader::open(path())->complete());
}

TEST_F(WriterTest, ADefinitionThatDoesNotFitEndsTheRecording) {
  Writer& writer = create();
  {
    const FileSizeLimit limit(100);
    writer.define_string(StringId{0}, std::string(200, 'x'));
    EXPECT_EQ(writer.error(), EFBIG);
  }
  writer.define_string(StringId{1}, "small");
  const Found found = close_and_read();
  EXPECT_EQ(found.definitions.front(), "string 1 small");
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(WriterTest, WithoutSpaceForTheRingNothingIsLeftBehind) {
  const FileSizeLimit limit(70000);
  EXPECT_EQ(error_of(small(16)),
            "cannot allocate " + std::to_string(small(16).ring_size >> 10) +
                " KiB for the buffer of " + path() +
                ": File too large; choose a smaller buffer with --buffer-size, "
                "or another directory with --output [TL241]");
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(WriterTest, ADirectoryThatExistsIsRefusedAndLeftAlone) {
  std::filesystem::create_directory(path());
  test::write_bytes(path() + "/defs", "mine");
  EXPECT_EQ(error_of(small()), "cannot create " + path() +
                                   ": File exists; choose another directory with --output [TL241]");
  EXPECT_EQ(test::read_bytes(path() + "/defs"), "mine");
}

TEST_F(WriterTest, AnImpossibleSegmentSizeIsRefused) {
  for (const std::uint32_t size : {0u, 64u, 4095u, 5000u, 32u << 20}) {
    WriterOptions options;
    options.segment_size = size;
    EXPECT_NE(error_of(options).find("a spool cannot have segments"), std::string::npos) << size;
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
}

TEST_F(WriterTest, ADirectoryDeletedMeanwhileHarmsNobody) {
  Pen pen(create(), 0);
  pen.enter(1, 1);
  std::filesystem::remove_all(path());
  for (std::uint32_t i = 2; i < 5000; ++i) pen.enter(i, i);
  writer_->define_string(StringId{0}, "x");
  pen.retire();
  EXPECT_EQ(writer_->error(), 0);
  writer_->close();
  EXPECT_EQ(writer_->error(), ENOENT);
  EXPECT_THROW(Reader::open(path()), Error);
}

TEST_F(WriterTest, ClosingTwiceIsClosingOnce) {
  create();
  writer_->close();
  const std::string defs = test::read_bytes(path() + "/defs");
  writer_->close();
  EXPECT_EQ(test::read_bytes(path() + "/defs"), defs);
}

TEST_F(WriterTest, ComparesTheClocksWhileItRuns) {
  create();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  writer_->close();
  EXPECT_GE(Reader::open(path())->definitions().clock_syncs.size(), 1u);
}

TEST_F(WriterTest, WhatIsRetiredWithoutADrainIsNotForgotten) {
  Writer& writer = create(small(8));
  Pen pen(writer, 0);
  for (std::uint32_t i = 0; i < 100; ++i) {
    pen.enter(i + 1, i);
    if (i % 10 == 0) pen.retire();  // starts the drain again
    if (i % 10 == 5) writer.pause_drain();
  }
  writer.pause_drain();
  EXPECT_EQ(read_as_if_killed().events.at(0), pen.lines());
  pen.retire();
  writer.pause_drain();
  writer.pause_drain();
  const Found found = close_and_read();
  EXPECT_EQ(found.events.at(0), pen.lines());
  EXPECT_EQ(found.damage, 0u);
  EXPECT_FALSE(exists("ring"));
}

TEST_F(WriterTest, TheDrainMayBePausedWhileThreadsRecord) {
  Writer& writer = create(small(3));
  constexpr std::uint32_t kThreads = 3;
  std::vector<Lines> expected(kThreads);
  std::vector<std::thread> threads;
  std::atomic<std::uint32_t> done = 0;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Pen pen(writer, t);
      for (std::uint32_t i = 0; i < 20000; ++i) pen.enter(i, i);
      pen.retire();
      expected[t] = pen.lines();
      ++done;
    });
  }
  while (done < kThreads) writer.pause_drain();
  for (std::thread& thread : threads) thread.join();
  const Found found = close_and_read();
  for (std::uint32_t t = 0; t < kThreads; ++t) EXPECT_EQ(found.events.at(t), expected[t]) << t;
  EXPECT_EQ(found.damage, 0u);
}

TEST_F(WriterTest, ManyThreadsShareASmallRing) {
  Writer& writer = create(small(3));
  constexpr std::uint32_t kThreads = 6;
  std::vector<Lines> expected(kThreads);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Pen pen(writer, t);
      for (std::uint32_t i = 0; i < 5000; ++i) pen.enter(i, i);
      expected[t] = pen.lines();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Found found = close_and_read();
  for (std::uint32_t t = 0; t < kThreads; ++t) EXPECT_EQ(found.events.at(t), expected[t]) << t;
  EXPECT_EQ(found.damage, 0u);
}

}  // namespace
}  // namespace timeloom::spool
