// The file `samples`: its samples are read again, up to damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../support/temp_directory.hpp"
#include "core/samples/estimated_time.hpp"
#include "spool/samples/sample_reader.hpp"
#include "spool/samples/sample_writer.hpp"

namespace timeloom::spool {
namespace {

namespace fs = std::filesystem;

class SampleFile : public ::testing::Test {
 protected:
  SampleFile() {
    int error = 0;
    writer_ = SampleWriter::create(KnownDirectory(directory_.path()), 1'000'000, &error);
    EXPECT_EQ(error, 0);
  }

  fs::path path() const { return directory_.path() / kSampleFile; }
  SampleData read() const { return read_samples(SpoolDirectory(directory_.path())); }

  test::TempDirectory directory_;
  std::unique_ptr<SampleWriter> writer_;
};

TEST_F(SampleFile, HoldsSamplesOfThreadsInTheirOrder) {
  std::array<SampleWriter::Place, 2> places;
  constexpr std::uint64_t kSamples = 3 * kSamplesInChunk + 1;
  for (std::uint64_t i = 1; i <= kSamples; ++i) {
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      ASSERT_TRUE(writer_->put(places[thread], thread, {10 * i, i, 1000 + thread, 7}));
    }
  }
  writer_->count_thread(SampleClock::kEvent);
  writer_->count_thread(SampleClock::kTimer);
  const SampleData data = read();  // while it is written
  EXPECT_FALSE(data.damaged);
  EXPECT_EQ(data.period_ns, 1'000'000u);
  EXPECT_EQ(data.threads, 2u);
  EXPECT_EQ(data.timers, 1u);
  ASSERT_EQ(data.samples.size(), 2 * kSamples);
  std::array<std::uint64_t, 2> seen{};
  for (const ThreadSample& sample : data.samples) {
    ASSERT_LT(sample.location, 2u);
    EXPECT_EQ(sample.address, ++seen[sample.location]);
    EXPECT_EQ(sample.ticks, 10 * sample.address);
    EXPECT_EQ(sample.weight_ns, 1000 + sample.location);
    EXPECT_EQ(sample.region, 7u);
  }
}

// The stack of sample `i`: numbers from 0, of which each third sample changes the last ones.
std::vector<std::uint32_t> stack_of(std::uint32_t i) {
  std::vector<std::uint32_t> stack(i % 60);
  for (std::uint32_t level = 0; level < stack.size(); ++level) {
    stack[level] = level < 20 ? level : level + i / 3;
  }
  return stack;
}

TEST_F(SampleFile, HoldsStacksThatShareFrames) {
  constexpr std::uint32_t kSamples = 1000;
  std::array<SampleWriter::Place, 2> places;
  std::vector<std::uint32_t> before;
  for (std::uint32_t i = 1; i <= kSamples; ++i) {
    const std::vector<std::uint32_t> now = stack_of(i);
    const auto shared =
        static_cast<std::size_t>(std::ranges::mismatch(now, before).in1 - now.begin());
    const SampledStack stack{now, shared};
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      ASSERT_TRUE(writer_->put(places[thread], thread, {i, i, 1, 1}, &stack));
    }
    before = now;
  }
  const SampleData data = read();
  EXPECT_FALSE(data.damaged);
  ASSERT_EQ(data.samples.size(), 2 * kSamples);
  std::vector<std::uint32_t> stack;
  for (std::size_t i = 0; i < data.samples.size(); ++i) {
    const ThreadSample& sample = data.samples[i];
    EXPECT_EQ(sample.location, i / kSamples);  // by threads
    ASSERT_TRUE(sample.has_stack);
    ASSERT_LE(sample.shared, stack.size());
    stack.resize(sample.shared);
    const auto added = std::span(data.frames).subspan(sample.first, sample.count);
    stack.insert(stack.end(), added.begin(), added.end());
    ASSERT_EQ(stack, stack_of(static_cast<std::uint32_t>(sample.ticks)));
  }
}

// With a profile of its thread, a sample has its place there. Its stack tells the function.
TEST_F(SampleFile, HoldsPlacesOfProfiles) {
  const std::vector<std::uint32_t> frames{4, 9 | kUnrecordedFrame};
  const SampledStack stack{frames, 0};
  std::array<SampleWriter::Place, 2> places;
  const Sample sample{.ticks = 1, .region = 6, .place = 3};
  ASSERT_TRUE(writer_->put(places[0], 0, sample));
  ASSERT_TRUE(writer_->put(places[0], 0, {.ticks = 2, .region = 6}));
  ASSERT_TRUE(writer_->put(places[1], 1, sample, &stack));
  const SampledStack same{frames, 2};
  ASSERT_TRUE(writer_->put(places[1], 1, sample, &same));
  const SampleData data = read();
  ASSERT_EQ(data.samples.size(), 4u);
  EXPECT_EQ(data.samples[0].place, 3u);
  EXPECT_EQ(data.samples[0].region, kNoSampledRegion);
  EXPECT_EQ(data.samples[1].place, 0u);
  EXPECT_EQ(data.samples[1].region, 6u);
  for (const std::size_t with_stack : {2, 3}) {
    EXPECT_EQ(data.samples[with_stack].place, 3u);
    EXPECT_EQ(data.samples[with_stack].region, 9u);
  }
  EXPECT_EQ(data.bytes, 5 * sizeof(SampleRecord));
}

TEST_F(SampleFile, HasRoomForTheDeepestStack) {
  const std::vector<std::uint32_t> deep(kMostSampledFrames, 7);
  SampleWriter::Place place;
  const SampledStack stack{deep, 0};
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(writer_->put(place, 0, {i, i, 1, 1}, &stack));
  const SampleData data = read();
  ASSERT_EQ(data.samples.size(), 3u);
  EXPECT_EQ(data.frames.size(), 3 * kMostSampledFrames);
}

TEST_F(SampleFile, ReadsDamagedStacksAsFarAsTheyMakeSense) {
  std::vector<std::uint32_t> frames(10, 3);
  SampleWriter::Place place;
  for (std::uint64_t i = 1; i <= 4; ++i) {
    frames.push_back(static_cast<std::uint32_t>(i));
    const SampledStack stack{frames, i == 1 ? 0u : 10u};
    writer_->put(place, 0, {i, i, 1, 1}, &stack);
  }
  writer_.reset();
  std::ifstream in(path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  // The head of the chunk, and two records with their stacks.
  for (std::size_t at = kSampleHeadSize; at < kSampleHeadSize + 192; ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (at % 3 == 0 ? '\x01' : '\x40'));
    std::ofstream(path(), std::ios::binary) << bytes;
    const SampleData data = read();
    std::size_t depth = 0;
    for (const ThreadSample& sample : data.samples) {
      if (!sample.has_stack) continue;
      ASSERT_LE(sample.shared, depth) << at;
      ASSERT_LE(sample.first + sample.count, data.frames.size()) << at;
      depth = sample.shared + sample.count;
    }
  }
}

TEST_F(SampleFile, CountsSamplesWithoutSpaceAndGrows) {
  SampleWriter::Place place;
  std::uint64_t kept = 0;
  EXPECT_FALSE(writer_->is_short());
  while (writer_->put(place, 0, {1, 2, 3, 4})) ++kept;
  EXPECT_EQ(kept, (std::uint64_t{1} << 20) / kSampleChunkSize * kSamplesInChunk);
  EXPECT_FALSE(writer_->put(place, 0, {1, 2, 3, 4}));
  EXPECT_EQ(writer_->lost(), 2u);
  EXPECT_TRUE(writer_->is_short());
  writer_->grow();
  EXPECT_FALSE(writer_->is_short());
  EXPECT_TRUE(writer_->put(place, 0, {1, 2, 3, 4}));
  const SampleData data = read();
  EXPECT_EQ(data.samples.size(), kept + 1);
  EXPECT_EQ(data.lost, 2u);
  EXPECT_FALSE(data.damaged);
}

TEST_F(SampleFile, IsFilledByManyThreadsAtOnce) {
  constexpr std::uint32_t kThreads = 8, kEach = 2000;
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      SampleWriter::Place place;
      for (std::uint64_t n = 1; n <= kEach; ++n) writer_->put(place, i, {n, n, 1, i});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const SampleData data = read();
  std::array<std::uint64_t, kThreads> last{};
  for (const ThreadSample& sample : data.samples) {
    ASSERT_EQ(sample.region, sample.location);
    EXPECT_EQ(sample.ticks, ++last[sample.location]);
  }
  EXPECT_EQ(data.samples.size() + data.lost, kThreads * kEach);
}

TEST_F(SampleFile, IsReadUpToDamage) {
  SampleWriter::Place place;
  for (std::uint64_t i = 1; i <= 200; ++i) writer_->put(place, 3, {i, i, 1, 1});
  writer_.reset();
  std::ifstream in(path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto damage = [&](std::size_t at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    std::ofstream(path(), std::ios::binary) << bytes;
    return read();
  };
  for (std::size_t at = 0; at < 24; ++at) {  // the head
    if (at == 10 || at == 11) continue;      // not used
    EXPECT_TRUE(damage(at).damaged) << at;
    EXPECT_TRUE(damage(at).samples.empty()) << at;
  }
  const std::size_t second = kSampleHeadSize + kSampleChunkSize;
  for (std::size_t at = second; at < second + 12; ++at) {  // the head of the second chunk
    const SampleData data = damage(at);
    EXPECT_TRUE(data.damaged) << at;
    EXPECT_EQ(data.samples.size(), kSamplesInChunk);
  }
  for (const std::size_t size : {std::size_t{0}, sizeof(SampleHeader) - 1, second - 1}) {
    std::ofstream(path(), std::ios::binary) << whole.substr(0, size);
    EXPECT_TRUE(read().samples.empty()) << size;
  }
  fs::remove(path());
  EXPECT_EQ(read().period_ns, 0u);
  EXPECT_FALSE(read().damaged);
}

}  // namespace
}  // namespace timeloom::spool
