// The file `waits` of a spool: written by looks at threads, read, cut and damaged.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "../support/temp_directory.hpp"
#include "os/clock.hpp"
#include "spool/waits/wait_reader.hpp"
#include "spool/waits/wait_watch.hpp"

namespace timeloom::spool {
namespace {

std::string written_wait_file(const std::filesystem::path& directory) {
  auto writer = WaitWriter::create(directory.string());
  EXPECT_TRUE(writer.has_value());
  writer->put_gil(16, 32);
  writer->add({10, 20, 1, WaitSpan::what_of(WaitSpanKind::kTime, 3), 0});
  writer->add({5, 5, 0, WaitSpan::what_of(WaitSpanKind::kFutex, 1), 24});
  writer->flush();
  writer->add({9, 8, 0, WaitSpan::what_of(WaitSpanKind::kTime, 1), 0});  // ends before its start
  writer->put_load({40, 7, 2});
  writer->flush();
  std::ifstream file(directory / kWaitFile, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

WaitData read_wait_bytes(const std::filesystem::path& directory, const std::string& bytes) {
  std::ofstream(directory / kWaitFile, std::ios::binary) << bytes;
  return read_waits(SpoolDirectory(directory));
}

TEST(WaitFile, HasWhatWasWritten) {
  const test::TempDirectory directory;
  (void)written_wait_file(directory.path());
  const WaitData data = read_waits(SpoolDirectory(directory.path()));
  EXPECT_TRUE(data.present);
  EXPECT_FALSE(data.damaged);
  EXPECT_FALSE(data.hidden);
  EXPECT_EQ(data.gil_from, 16u);
  EXPECT_EQ(data.gil_to, 32u);
  ASSERT_EQ(data.spans.size(), 2u);
  EXPECT_EQ(data.spans[0].location, 0u);
  EXPECT_EQ(data.spans[0].word, 24u);
  EXPECT_EQ(data.spans[1].kind(), WaitSpanKind::kTime);
  EXPECT_EQ(data.spans[1].looks(), 3u);
  ASSERT_EQ(data.loads.size(), 1u);
  EXPECT_EQ(data.loads[0].runnable, 7u);
}

// Looks at eight threads that wait by turns.
TEST(WaitFile, HasTheSameSpansPacked) {
  std::vector<WaitData> data;
  std::vector<std::uintmax_t> sizes;
  for (const bool packs : {false, true}) {
    const test::TempDirectory directory;
    auto writer = WaitWriter::create(directory.path().string(), packs);
    for (std::uint32_t i = 0; i < 10'000; ++i) {
      const std::uint64_t at = 1'000'000 + 4'000'000 * std::uint64_t{i / 8};
      writer->add({at, at + 3'900'000 + i % 11, i % 8,
                   WaitSpan::what_of(WaitSpanKind::kFutex, 1 + i % 3),
                   std::uint64_t{0x7f0012340} + 64 * (i % 8)});
      if (i % 2'000 == 0) writer->flush();
    }
    writer->flush();
    data.push_back(read_waits(SpoolDirectory(directory.path())));
    sizes.push_back(std::filesystem::file_size(directory.path() / kWaitFile));
    EXPECT_FALSE(data.back().damaged);
  }
  ASSERT_EQ(data[0].spans.size(), 10'000u);
  ASSERT_EQ(data[1].spans.size(), 10'000u);
  const std::size_t bytes = 10'000 * sizeof(WaitSpan);
  EXPECT_EQ(std::memcmp(data[0].spans.data(), data[1].spans.data(), bytes), 0);
  EXPECT_LT(8 * sizes[1], sizes[0]);
}

TEST(WaitFile, IsReadUpToWhereItIsCut) {
  const test::TempDirectory directory;
  const std::string all = written_wait_file(directory.path());
  std::size_t most = 0;
  for (std::size_t size = 0; size < all.size(); ++size) {
    const WaitData data = read_wait_bytes(directory.path(), all.substr(0, size));
    EXPECT_LE(data.spans.size(), 2u);
    EXPECT_GE(data.spans.size(), most) << size;
    most = std::max(most, data.spans.size());
  }
  EXPECT_EQ(most, 2u);
}

TEST(WaitFile, DamageAnywhereIsNoticed) {
  const test::TempDirectory directory;
  const std::string all = written_wait_file(directory.path());
  for (std::size_t at = 0; at < all.size(); ++at) {
    std::string bytes = all;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    const WaitData data = read_wait_bytes(directory.path(), bytes);
    EXPECT_TRUE(data.damaged || data.spans.size() < 2 || data.loads.empty()) << at;
  }
}

TEST(WaitFile, IsNotThereWithoutLooks) {
  const test::TempDirectory directory;
  EXPECT_FALSE(read_waits(SpoolDirectory(directory.path())).present);
}

// A thread that reads an empty pipe, and the watch that looks at it.
class WaitWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::pipe(ends_), 0);
    reader_ = std::thread([this] {
      char byte = 0;
      EXPECT_EQ(::read(ends_[0], &byte, 1), 1);
    });
    WaitOptions options;
    options.on = true;
    watch_.begin(directory_.path().string(), options);
    ASSERT_EQ(pthread_getcpuclockid(reader_.native_handle(), &clock_), 0);
    watch_.add(5, clock_);
  }
  void TearDown() override {
    EXPECT_EQ(::write(ends_[1], "x", 1), 1);
    reader_.join();
    (void)watch_.look();  // the thread has ended
    watch_.remove(5);
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  bool seen() const {
    for (const WaitSpan& span : read_waits(SpoolDirectory(directory_.path())).spans) {
      if (span.kind() == WaitSpanKind::kProcess && span.location == 5) return true;
    }
    return false;
  }

  const test::TempDirectory directory_;
  int ends_[2] = {-1, -1};
  std::thread reader_;
  clockid_t clock_{};
  WaitWatch watch_;
};

TEST_F(WaitWatchTest, SeesAThreadThatReadsAPipe) {
  for (int i = 0; i < 10'000 && !seen(); ++i) {
    ::usleep(1000);
    (void)watch_.look();
    watch_.flush();
  }
  EXPECT_TRUE(seen());
}

TEST_F(WaitWatchTest, TheFirstLookTellsForWhatAThreadWaits) {
  const std::uint64_t thread = os::thread_of_clock(clock_);
  for (int i = 0; i < 10'000 && os::thread_wait(thread).kind != os::WaitKind::kProcess; ++i) {
    ::usleep(1000);
  }
  (void)watch_.look();
  watch_.flush();
  EXPECT_TRUE(seen());
}

// Runs on one processor beside another thread, until it has had none for 20 ms.
void run_without_a_processor(std::uint64_t self) {
  std::uint64_t start = 0, delay = 0;
  (void)os::run_delay(self, start);
  while (os::run_delay(self, delay) && delay - start < 20'000'000) {
    for (volatile int i = 0; i < 100'000;) i = i + 1;
  }
}

TEST(WaitWatch, HasTheTimeWithoutAProcessorUpToTheEndOfAThread) {
  const auto self = static_cast<std::uint64_t>(::gettid());
  std::uint64_t before = 0, after = 0;
  if (!os::run_delay(self, before)) GTEST_SKIP() << "the kernel does not tell it";
  const test::TempDirectory directory;
  WaitOptions options;
  options.on = true;
  WaitWatch watch;
  watch.begin(directory.path().string(), options);
  std::thread watched([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    std::atomic<bool> stop = false;
    std::thread other([&] {
      while (!stop) {
      }
    });  // on the same processor
    clockid_t clock{};
    ASSERT_EQ(pthread_getcpuclockid(pthread_self(), &clock), 0);
    const auto thread = static_cast<std::uint64_t>(::gettid());
    watch.add(5, clock);
    (void)watch.look();
    ASSERT_TRUE(os::run_delay(thread, before));
    run_without_a_processor(thread);
    ASSERT_TRUE(os::run_delay(thread, after));
    watch.remove(5);
    stop = true;
    other.join();
  });
  watched.join();
  watch.flush();
  std::uint64_t told = 0;
  for (const WaitSpan& span : read_waits(SpoolDirectory(directory.path())).spans) {
    if (span.kind() == WaitSpanKind::kProcessor) told += span.word;
  }
  EXPECT_GE(told, after - before);
}

}  // namespace
}  // namespace timeloom::spool
