// Segments that start small and get space as they are filled.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

// Bytes that have space, for segments of 256 KB on a machine with pages of 4 KB.
constexpr std::array<std::size_t, 4> kSpaces = {4 << 10, 16 << 10, 64 << 10, 256 << 10};

std::size_t words_of(std::size_t space) { return (space - sizeof(SegmentHeader)) / 8; }

class GrowthTest : public SpoolTest {
 protected:
  void SetUp() override {
    if (::sysconf(_SC_PAGESIZE) > 4096) GTEST_SKIP() << "segments begin with a larger page";
  }
  // Bytes of the ring outside of holes.
  std::uint64_t ring_space() const {
    int error = 0;
    const os::File ring = os::File::open_read(path() + "/ring", &error);
    const std::uint64_t end = ring.size(&error);
    std::uint64_t space = 0;
    for (std::uint64_t at = ring.next_data(0, end); at < end; at = ring.next_data(at, end)) {
      const std::uint64_t hole = ring.next_hole(at, end);
      space += hole - at;
      at = hole;
    }
    return space;
  }
  static WriterOptions with_ring(std::uint64_t segments) {
    WriterOptions options;
    options.ring_size = segments * options.segment_size;
    return options;
  }
};

TEST_F(GrowthTest, AThreadBeginsWithAPageOfItsSegment) {
  Writer& writer = create(with_ring(4));
  const std::uint64_t before = ring_space();
  EXPECT_EQ(before, kRingHeaderSize + 4 * kSpaces[3]);
  Segment* const segment = writer.acquire(1, 0, 1);
  ASSERT_NE(segment, nullptr);
  for (const std::size_t space : kSpaces) {
    EXPECT_EQ(segment->room(), words_of(space));
    EXPECT_EQ(ring_space(), before + space);
    for (std::size_t i = 0; i < segment->room(); ++i) {
      if (segment->words()[i] == 0) segment->words()[i] = make_word(WordKind::kEnter, 1);
      ASSERT_EQ(segment->words()[i], make_word(WordKind::kEnter, 1));
    }
    EXPECT_EQ(writer.extend(segment), space != kSpaces.back());
  }
  writer.retire(segment, segment->room());
  EXPECT_EQ(close_and_read().events.at(1).size(), words_of(kSpaces.back()));
}

// Its next segments are like the ring's initial ones.
TEST_F(GrowthTest, AThreadThatHasFilledOneGoesOnWithWholeOnes) {
  Writer& writer = create(with_ring(4));
  EXPECT_EQ(writer.acquire(0, 0, 1)->room(), words_of(kSpaces.back()));
  EXPECT_EQ(writer.acquire(1, 0, 1)->room(), words_of(kSpaces.front()));
  EXPECT_EQ(writer.acquire(1, 1, 1)->room(), words_of(kSpaces.back()));
}

// Even if there are whole ones, which a busy thread has just filled.
TEST_F(GrowthTest, ManyThreadsWithFewEventsTakeAPageEach) {
  constexpr std::uint32_t kThreads = 1000;
  Writer& writer = create(with_ring(4));
  Pen busy(writer, 0);
  std::vector<std::unique_ptr<Pen>> idle;
  for (std::uint32_t t = 1; t <= kThreads; ++t) {
    for (std::uint32_t i = 0; i < 100; ++i) busy.enter(100 * t + i, i);
    idle.push_back(std::make_unique<Pen>(writer, t));
    idle.back()->enter(t, t);
  }
  EXPECT_EQ(ring_space(), kRingHeaderSize + 4 * kSpaces.back() + kThreads * kSpaces.front());
  busy.retire();
  for (auto& pen : idle) pen->retire();
  const Found found = close_and_read();
  EXPECT_EQ(found.damage, 0u);
  EXPECT_EQ(found.events.size(), kThreads + 1);
  EXPECT_EQ(found.events.at(0), busy.lines());
  for (std::uint32_t t = 1; t <= kThreads; ++t) ASSERT_EQ(found.events.at(t), idle[t - 1]->lines());
}

// New threads reuse the segments of ended threads.
TEST_F(GrowthTest, ThreadsThatFollowEachOtherShareOne) {
  Writer& writer = create(with_ring(1));
  Segment* const first = writer.acquire(1, 0, 1);
  const std::size_t segments = std::filesystem::file_size(path() + "/ring");
  first->words()[0] = make_word(WordKind::kEnter, 1);
  writer.retire(first, 1);
  writer.pause_drain();  // when it has been drained
  EXPECT_EQ(writer.acquire(2, 0, 1), first);
  EXPECT_EQ(first->room(), words_of(kSpaces.front()));
  EXPECT_EQ(std::filesystem::file_size(path() + "/ring"), segments);
}

// The records of a living process, whose ring has holes, and of one that was killed and copied,
// whose ring has none.
TEST_F(GrowthTest, NothingIsMissingAroundTheBorders) {
  Pen pen(create(with_ring(2)), 1);
  std::size_t words = 0;
  for (const std::size_t space : kSpaces) {
    const std::size_t border = words_of(space);
    for (; words + 7 < border; ++words) pen.enter(words, 1);
    for (; words < border + 7; words += 3) {  // some across the border
      pen.valued(words, EventKind::kMetric, 1, words);
      const Lines lines = pen.lines();
      for (const Found& found : {read(), read_as_if_killed()}) {
        ASSERT_EQ(found.events.at(1), lines) << words;
        ASSERT_EQ(found.damage, 0u) << words;
      }
    }
  }
  pen.retire();
  EXPECT_EQ(pen.segments().size(), 2u);
  const Found found = close_and_read();
  EXPECT_EQ(found.events.at(1), pen.lines());
  EXPECT_EQ(found.damage, 0u);
}

// A ring at its limit, or a file.
TEST_F(GrowthTest, WhereTheRingCannotGrowAThreadBeginsWithAWholeOne) {
  WriterOptions options = with_ring(2);
  Writer& writer = create(options);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit limit { kRingHeaderSize + options.ring_size, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const Segment* const segment = writer.acquire(1, 0, 1);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_NE(segment, nullptr);
  EXPECT_EQ(segment->room(), words_of(kSpaces.back()));
  EXPECT_EQ(writer.error(), 0);
}

// The disk is full: the segment keeps its present space.
TEST_F(GrowthTest, ASegmentThatGetsNoMoreSpaceKeepsWhatItHas) {
  WriterOptions options = with_ring(1);
  Writer& writer = create(options);
  Pen pen(writer, 1);
  pen.enter(0, 1);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit limit { 100, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &limit);
  for (std::uint32_t i = 1; !pen.out_of_space() && i < 100'000; ++i) pen.enter(i, i);
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(writer.error(), EFBIG);
  const Found found = close_and_read();
  EXPECT_EQ(found.events.at(1), pen.lines());
  EXPECT_EQ(found.damage, 0u);
}

}  // namespace
}  // namespace timeloom::spool
