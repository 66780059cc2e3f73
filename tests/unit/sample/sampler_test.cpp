// Samples of a measurement in this process.
#include "sample/sampler.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <span>
#include <thread>
#include <vector>

#include "../record/record_fixture.hpp"
#include "os/cpu_ticker.hpp"
#include "os/process.hpp"
#include "spool/samples/sample_reader.hpp"

namespace timeloom::sample {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

thread_local volatile double t_number = 1;

// Works until the thread has used that much CPU time more; returns how much it was.
__attribute__((noinline)) std::uint64_t work(std::uint64_t ns) {
  const std::uint64_t begin = os::thread_cpu_ns();
  std::uint64_t now = begin;
  while (now - begin < ns) {
    for (int i = 0; i < 100'000; ++i) t_number = t_number * 0.999 + 1;
    now = os::thread_cpu_ns();
  }
  return now - begin;
}

class SamplerTest : public record::RecordTest {
 protected:
  void begin_sampling(int signal = SIGURG) {
    begin();
    EXPECT_EQ(start_sampling({kMillisecond, signal, nullptr}), "");
  }
  spool::SampleData samples() { return spool::read_samples(spool::SpoolDirectory(path())); }
  std::uint32_t id(const std::string& name) { return payload_of(region(name)); }
};

std::uint64_t weight_of(const spool::SampleData& data, std::uint32_t region) {
  std::uint64_t sum = 0;
  for (const spool::ThreadSample& sample : data.samples) {
    if (sample.region == region) sum += sample.weight_ns;
  }
  return sum;
}

// Two functions, the innermost first.
std::size_t walk_two(std::span<std::uint32_t> regions, std::uint32_t) noexcept {
  regions[0] = 7;
  regions[1] = 3;
  return 2;
}

TEST_F(SamplerTest, TakesTheStacksThatItIsGiven) {
  begin();
  SampleOptions options{kMillisecond, SIGURG};
  options.walk = walk_two;
  ASSERT_EQ(start_sampling(options), "");
  work(100 * kMillisecond);
  stop_sampling();
  const spool::SampleData data = samples();
  ASSERT_GT(data.samples.size(), 3u);
  std::vector<std::uint32_t> stack;
  for (const spool::ThreadSample& sample : data.samples) {
    ASSERT_TRUE(sample.has_stack);
    EXPECT_EQ(sample.region, 7u);
    stack.resize(sample.shared);
    const auto added = std::span(data.frames).subspan(sample.first, sample.count);
    stack.insert(stack.end(), added.begin(), added.end());
    EXPECT_EQ(stack, (std::vector<std::uint32_t>{3, 7}));
  }
  EXPECT_LE(data.frames.size(), data.samples.size());  // most have no frames of their own
  end();
}

// More functions than a sample may have.
std::size_t walk_many(std::span<std::uint32_t> regions, std::uint32_t) noexcept {
  std::ranges::fill(regions, 3);
  regions[0] = 7;
  return regions.size();
}

TEST_F(SamplerTest, KeepsOneDeepStackForManySamples) {
  begin();
  SampleOptions options{kMillisecond, SIGURG};
  options.walk = walk_many;
  ASSERT_EQ(start_sampling(options), "");
  work(200 * kMillisecond);
  stop_sampling();
  end();
  const spool::SampleData data = samples();
  ASSERT_GT(data.samples.size(), 15u);
  EXPECT_EQ(data.lost, 0u);
  EXPECT_EQ(data.cut, data.samples.size());
  EXPECT_TRUE(std::ranges::all_of(data.samples, [](const auto& s) { return s.region == 7; }));
  EXPECT_LT(data.frames.size(), data.samples.size() * 1000 / 10);
}

TEST_F(SamplerTest, GivesTheCpuTimeToTheRegionThatIsOpen) {
  begin_sampling();
  enter(region("f"));
  const std::uint64_t of_f = work(200 * kMillisecond);
  enter(region("g"));
  const std::uint64_t of_g = work(100 * kMillisecond);
  leave(region("g"));
  leave(region("f"));
  stop_sampling();
  const record::Recorded found = end();
  const spool::SampleData data = samples();
  EXPECT_FALSE(data.damaged);
  EXPECT_EQ(data.lost, 0u);
  EXPECT_EQ(data.threads, 1u);
  // A sample belongs to the region at its time: up to a period of the slowest timer is another's.
  constexpr double kPeriod = 12.0 * kMillisecond;
  EXPECT_NEAR(static_cast<double>(weight_of(data, id("f"))), static_cast<double>(of_f), kPeriod);
  EXPECT_NEAR(static_cast<double>(weight_of(data, id("g"))), static_cast<double>(of_g), kPeriod);
  // Their addresses lie in objects that the definitions tell of.
  for (const spool::ThreadSample& sample : data.samples) {
    const bool known = std::ranges::any_of(found.definitions.mappings, [&](const auto& mapping) {
      return sample.address - mapping.begin < mapping.size &&
             found.definitions.objects.contains(mapping.object);
    });
    EXPECT_TRUE(known) << sample.address;
  }
}

TEST_F(SamplerTest, TakesAllThreadsThatRecord) {
  begin_sampling();
  enter(region("main"));
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([this] {
      enter(region("thread"));
      work(50 * kMillisecond);
      leave(region("thread"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop_sampling();
  end();
  const spool::SampleData data = samples();
  EXPECT_EQ(data.threads, 4u);
  std::set<std::uint32_t> locations;
  for (const spool::ThreadSample& sample : data.samples) {
    if (sample.region == id("thread")) locations.insert(sample.location);
  }
  EXPECT_EQ(locations.size(), 3u);
}

TEST_F(SamplerTest, TakesNoneWhileRecordingIsOffAndNoneAfterItsEnd) {
  begin_sampling();
  enter(region("f"));
  record::set_recording(false);
  work(50 * kMillisecond);
  record::set_recording(true);
  const std::uint64_t of_f = work(50 * kMillisecond);
  stop_sampling();
  work(50 * kMillisecond);
  end();
  EXPECT_NEAR(static_cast<double>(weight_of(samples(), id("f"))), static_cast<double>(of_f),
              12.0 * kMillisecond);
}

TEST_F(SamplerTest, AForkedChildTakesNone) {
  begin_sampling();
  enter(region("f"));
  work(20 * kMillisecond);
  const pid_t child = ::fork();
  if (child == 0) {
    work(100 * kMillisecond);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  stop_sampling();
  end();
  EXPECT_LT(weight_of(samples(), id("f")), 60 * kMillisecond);
}

TEST_F(SamplerTest, LeavesASignalThatIsInUse) {
  std::signal(SIGWINCH, SIG_IGN);
  begin();
  EXPECT_NE(start_sampling({kMillisecond, SIGWINCH}), "");
  EXPECT_EQ(start_sampling({}), "");
  std::signal(SIGWINCH, SIG_DFL);
  EXPECT_EQ(start_sampling({kMillisecond, SIGWINCH}), "");
  enter(region("f"));
  work(50 * kMillisecond);
  stop_sampling();
  end();
  EXPECT_GT(weight_of(samples(), id("f")), 30 * kMillisecond);
  EXPECT_EQ(std::signal(SIGWINCH, SIG_DFL), SIG_DFL);  // as it was
}

std::atomic<int> g_ends = 0;

TEST_F(SamplerTest, EndsOnceWhenTheProgramHasResetTheSignal) {
  begin();
  SampleOptions options{kMillisecond, SIGURG};
  options.on_end = [](const char*) noexcept { ++g_ends; };
  ASSERT_EQ(start_sampling(options), "");
  enter(region("f"));
  work(50 * kMillisecond);
  note_signal_change(SIGURG);
  EXPECT_EQ(g_ends, 0);
  std::signal(SIGURG, SIG_DFL);
  work(50 * kMillisecond);  // it ends nothing
  note_signal_change(SIGURG);
  note_signal_change(SIGURG);
  EXPECT_EQ(g_ends, 1);
  stop_sampling();
  end();
  EXPECT_LT(weight_of(samples(), id("f")), 80 * kMillisecond);
}

}  // namespace
}  // namespace timeloom::sample
