// The disk space of the spools of a run with a size limit.
#include "spool/size_limit.hpp"

#include <sys/resource.h>

#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

constexpr std::uint64_t kLimit = 1 << 20;

class SizeLimitTest : public SpoolTest {
 protected:
  static WriterOptions limited(bool keep_newest) {
    WriterOptions options = small();
    options.size_limit = {kLimit, keep_newest ? AtLimit::kKeepNewest : AtLimit::kStop};
    return options;
  }
  std::string spool(const std::string& name) const { return directory_ / ("run/" + name); }
  std::unique_ptr<Writer> begin(const std::string& name, bool keep_newest) {
    std::filesystem::create_directories(directory_ / "run");
    return Writer::create(spool(name), limited(keep_newest));
  }
  // Bytes of the logs and rings of all processes.
  std::uint64_t bytes_on_disk() const {
    std::uint64_t sum = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / "run")) {
      const std::string name = entry.path().filename();
      std::error_code gone;
      const std::uint64_t bytes = entry.file_size(gone);
      if (!gone && (log_number(name) || name == kRingName)) sum += bytes;
    }
    return sum;
  }
  static void fill(Pen& pen, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) pen.enter(i, static_cast<std::uint32_t>(i));
    pen.retire();
  }
  std::vector<std::uint32_t> logs_of(const std::string& name) const {
    std::vector<std::uint32_t> numbers;
    for (const auto& entry : std::filesystem::directory_iterator(spool(name))) {
      const auto number = log_number(entry.path().filename().string());
      if (number) numbers.push_back(*number);
    }
    std::ranges::sort(numbers);
    return numbers;
  }
  static bool is_end_of(const Lines& part, const Lines& whole) {
    return part.size() <= whole.size() && std::equal(part.rbegin(), part.rend(), whole.rbegin());
  }
};

TEST(LogNames, AreTakenForWhatTheyAre) {
  EXPECT_EQ(log_name(0), "log");
  EXPECT_EQ(log_name(17), "log-17");
  EXPECT_EQ(log_number("log"), 0u);
  EXPECT_EQ(log_number("log-17"), 17u);
  for (const char* name :
       {"log-", "log-0", "log-x", "log-1x", "log1", "logs", "ring", "log-99999999999"}) {
    EXPECT_EQ(log_number(name), std::nullopt) << name;
  }
}

TEST_F(SizeLimitTest, RecordingEndsAtTheLimit) {
  const auto writer = begin("p", false);
  Pen pen(*writer, 0);
  std::uint64_t put = 0;
  for (; !pen.out_of_space(); ++put) pen.enter(put, static_cast<std::uint32_t>(put));
  EXPECT_TRUE(writer->at_limit());
  EXPECT_EQ(writer->error(), 0);
  expect_no_more_looks(*writer);
  EXPECT_LE(bytes_on_disk(), kLimit);
  EXPECT_GT(bytes_on_disk(), kLimit * 9 / 10);
  writer->close();
  EXPECT_LE(bytes_on_disk(), kLimit);
  EXPECT_FALSE(std::filesystem::exists(spool("p") + "/ring"));
  const Found found = read_spool(spool("p"));
  EXPECT_EQ(found.events.at(0), pen.lines());
  EXPECT_EQ(found.damage, 0u);
  EXPECT_TRUE(Reader::open(spool("p"))->complete());
}

TEST_F(SizeLimitTest, TheNewestEventsAreKept) {
  const auto writer = begin("p", true);
  Pen pen(*writer, 0);
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    pen.enter(i, static_cast<std::uint32_t>(i));
    if (i % 10000 == 0) {
      ASSERT_LE(bytes_on_disk(), kLimit);
    }
  }
  pen.retire();
  writer->close();
  EXPECT_LE(bytes_on_disk(), kLimit);
  EXPECT_GT(bytes_on_disk(), kLimit * 9 / 10);
  const Found found = read_spool(spool("p"));
  EXPECT_TRUE(is_end_of(found.events.at(0), pen.lines()));
  EXPECT_EQ(found.damage, 0u);
  const auto reader = Reader::open(spool("p"));
  EXPECT_EQ(reader->definitions().dropped_events + found.events.at(0).size(), pen.lines().size());
  EXPECT_TRUE(reader->complete());
}

TEST_F(SizeLimitTest, WithoutALimitThereIsOneLog) {
  Pen pen(create(), 0);
  fill(pen, 0, 100'000);
  writer_->close();
  EXPECT_FALSE(exists("log-1"));
}

TEST_F(SizeLimitTest, AGapInTheMiddleIsDamageAllTheSame) {
  const auto writer = begin("p", true);
  Pen pen(*writer, 0);
  fill(pen, 0, 200'000);
  writer->close();
  const std::vector<std::uint32_t> numbers = logs_of("p");
  std::filesystem::remove(spool("p") + "/" + log_name(numbers[numbers.size() / 2]));
  EXPECT_GT(read_spool(spool("p")).damage, 0u);
}

TEST_F(SizeLimitTest, AMissingEndIsDamageAllTheSame) {
  const auto writer = begin("p", true);
  Pen pen(*writer, 0);
  fill(pen, 0, 200'000);
  writer->close();
  const auto reader = Reader::open(spool("p"));
  std::filesystem::remove(spool("p") + "/" + log_name(logs_of("p").back()));
  LocationReader events = reader->read(0);  // it existed when the spool was opened
  EXPECT_FALSE(lines_of(events).empty());
  EXPECT_GT(events.damaged_segments(), 0u);
  EXPECT_GT(read_spool(spool("p")).damage, 0u);
}

// The oldest file of the run is removed, whichever process wrote it, unless it is being appended
// to.
TEST_F(SizeLimitTest, TheLimitIsThatOfAllProcesses) {
  auto first = begin("1", true);
  Pen a(*first, 0);
  fill(a, 0, 100'000);
  first->close();
  const auto second = begin("2", true), third = begin("3", true);
  Pen b(*second, 0), c(*third, 0);
  fill(b, 0, 1000);
  for (std::uint64_t i = 0; i < 200'000; i += 4000) {
    fill(c, i, i + 4000);
    ASSERT_LE(bytes_on_disk(), kLimit);
  }
  second->close();
  third->close();
  EXPECT_FALSE(read_spool(spool("1")).events.contains(0));
  EXPECT_EQ(read_spool(spool("2")).events.at(0), b.lines());
  const Lines kept = read_spool(spool("3")).events.at(0);
  EXPECT_TRUE(is_end_of(kept, c.lines()));
  std::uint64_t dropped = 0, damage = 0;
  for (const char* name : {"1", "2", "3"}) {
    dropped += Reader::open(spool(name))->definitions().dropped_events;
    damage += read_spool(spool(name)).damage;
  }
  EXPECT_EQ(damage, 0u);
  EXPECT_EQ(dropped, a.lines().size() + c.lines().size() - kept.size());
}

TEST_F(SizeLimitTest, AtTheEndOfTheSpaceAllProcessesStop) {
  const auto first = begin("1", false), second = begin("2", false);
  Pen a(*first, 0), b(*second, 0);
  for (std::uint64_t i = 0; !a.out_of_space() || !b.out_of_space(); ++i) {
    a.enter(i, 1);
    if (i % 3 == 0) b.enter(i, 1);
  }
  EXPECT_LE(bytes_on_disk(), kLimit + kLimit / 64);  // two may have checked at the same moment
  const auto late = begin("3", false);
  EXPECT_TRUE(late->at_limit());
  EXPECT_EQ(late->acquire(0, 0, 1), nullptr);
  late->count_lost(7);
  late->close();
  const Found found = read_spool(spool("3"));
  EXPECT_EQ(found.lost, 7u);
  EXPECT_EQ(found.damage, 0u);
  first->close();
  second->close();
  EXPECT_EQ(read_spool(spool("1")).events.at(0), a.lines());
  EXPECT_EQ(read_spool(spool("2")).events.at(0), b.lines());
}

// Including the only file of a process with few events.
TEST_F(SizeLimitTest, WhatHasEndedMayGoAltogether) {
  const auto first = begin("1", true), second = begin("2", true);
  Pen a(*first, 0), b(*second, 0);
  fill(a, 0, 100);
  first->close();
  fill(b, 0, 200'000);
  second->close();
  const Found found = read_spool(spool("1"));
  EXPECT_FALSE(found.events.contains(0));
  EXPECT_EQ(found.damage, 0u);
}

// The program's threads help to write the log, and one may be late.
TEST_F(SizeLimitTest, ASegmentThatIsLateIsDropped) {
  const auto writer = begin("p", true);
  Segment* const late = writer->acquire(0, 0, 1);
  ASSERT_NE(late, nullptr);
  late->words()[0] = make_word(WordKind::kEnter, 7);
  const std::size_t words = late->room();
  for (std::uint64_t sequence = 1; sequence < 2000; ++sequence) {
    Segment* const segment = writer->acquire(0, sequence, sequence);
    ASSERT_NE(segment, nullptr);
    while (writer->extend(segment)) {
    }
    ASSERT_EQ(segment->room(), words);
    std::fill_n(segment->words(), words, make_word(WordKind::kEnter, 1));
    writer->retire(segment, words);
  }
  const Found found = read_spool(spool("p"));
  EXPECT_EQ(found.damage, 0u);
  for (const std::string& line : found.events.at(0)) ASSERT_TRUE(line.ends_with("enter 1"));
  EXPECT_GE(Reader::open(spool("p"))->definitions().dropped_events, words);
  writer->retire(late, 1);
  writer->close();
}

TEST_F(SizeLimitTest, WhereRecordingEndsNoFileMayGo) {
  const auto writer = begin("p", false);
  Pen pen(*writer, 0);
  fill(pen, 0, 20'000);
  writer->close();
  for (const char* name : {"log", "log-1", "log-9"}) {
    const std::string file = spool("p") + "/" + name;
    const std::string bytes = test::read_bytes(file);
    ASSERT_FALSE(bytes.empty()) << name;
    std::filesystem::remove(file);
    EXPECT_GT(read_spool(spool("p")).damage, 0u) << name;
    test::write_bytes(file, bytes);
  }
  EXPECT_EQ(read_spool(spool("p")).damage, 0u);
}

// A reader that starts while files are removed reads the remaining ones.
TEST_F(SizeLimitTest, ARunThatGoesOnCanBeRead) {
  const auto writer = begin("p", true);
  Pen pen(*writer, 0);
  fill(pen, 0, 200'000);
  writer->pause_drain();
  const auto reader = Reader::open(spool("p"));
  writer->resume_drain();
  fill(pen, 200'000, 250'000);
  LocationReader events = reader->read(0);
  const std::uint64_t before = reader->definitions().dropped_events;
  EXPECT_EQ(before + lines_of(events).size() + events.dropped_events(), 200'000u);
  EXPECT_GT(events.dropped_events(), 0u);
  EXPECT_EQ(events.damaged_segments(), 0u);
  fill(pen, 500'000, 600'000);
  EXPECT_EQ(read_spool(spool("p")).damage, 0u);
}

// Files that it has started to read stay: otherwise there would be leaves without their enters.
TEST_F(SizeLimitTest, ARunThatGoesOnIsReadWithoutAGap) {
  const auto writer = begin("p", true);
  Pen pen(*writer, 0);
  fill(pen, 0, 150'000);
  const Lines put = pen.lines();
  const auto reader = Reader::open(spool("p"));
  LocationReader events = reader->read(0);
  std::vector<Event> first;
  ASSERT_TRUE(events.next(first));
  fill(pen, 150'000, 300'000);
  Lines lines;
  for (const Event& event : first) lines.push_back(line_of(event));
  const Lines rest = lines_of(events);
  lines.insert(lines.end(), rest.begin(), rest.end());
  EXPECT_GT(lines.size(), 50'000u);
  EXPECT_TRUE(is_end_of(lines, put));
  EXPECT_EQ(events.damaged_segments(), 0u);
}

TEST_F(SizeLimitTest, ALogThatCannotBeListedIsAnError) {
  const auto writer = begin("p", true);
  Pen pen(*writer, 0);
  fill(pen, 0, 10'000);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  constexpr int kFiles = 3;  // the directory, the definitions, the ring
  const struct rlimit few { static_cast<rlim_t>(next + kFiles), before.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::string said = "nothing";
  try {
    Reader::open(spool("p"));
  } catch (const Error& error) {
    said = error.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(said, "cannot read " + spool("p") + ": Too many open files [TL210]");
}

}  // namespace
}  // namespace timeloom::spool
