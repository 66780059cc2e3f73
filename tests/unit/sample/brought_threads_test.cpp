// Samples of threads that run already when a measurement begins, and that another one brings in.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "../record/record_fixture.hpp"
#include "os/running_threads.hpp"
#include "os/thread.hpp"
#include "sample/sampler.hpp"
#include "spool/samples/sample_reader.hpp"

namespace timeloom::sample {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// A thread that works, and records nothing unless it is told to.
class Worker {
 public:
  Worker() : thread_([this] { run(); }) {
    while (id_ == 0) std::this_thread::yield();
  }
  ~Worker() { end(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  record::OtherThread other() {
    return {static_cast<std::uintptr_t>(thread_.native_handle()), id_, "worker"};
  }
  // Makes the thread call the function, and waits for it.
  void call(std::function<void()> function) {
    called_ = std::move(function);
    wanted_ = true;
    while (wanted_) std::this_thread::yield();
  }
  // Until the thread has used that much CPU time more.
  void wait_for_work(std::uint64_t ns) {
    const std::uint64_t until = os::cpu_ns_of_thread(id_).value() + ns;
    while (os::cpu_ns_of_thread(id_).value() < until) std::this_thread::yield();
  }
  void end() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    id_ = os::thread_id();
    volatile double number = 1;
    while (!ended_) {
      for (int i = 0; i < 10'000; ++i) number = number * 0.999 + 1;
      if (!wanted_) continue;
      called_();
      wanted_ = false;
    }
  }

  std::function<void()> called_;
  std::atomic<bool> wanted_ = false, ended_ = false;
  std::atomic<std::uint64_t> id_ = 0;
  std::thread thread_;
};

class BroughtThreadsTest : public record::RecordTest {
 protected:
  // Begins to sample; returns the location of the worker.
  std::uint32_t begin_with(Worker& worker) {
    next_spool();
    begin();
    EXPECT_EQ(start_sampling({kMs, SIGURG}), "");
    const record::ThreadRecorder* const recorder = record::bring_in(worker.other());
    EXPECT_NE(recorder, nullptr);
    sample_brought_threads();
    return recorder == nullptr ? 0 : recorder->location();
  }
  // Ends it; returns the samples.
  spool::SampleData end_sampling() {
    stop_sampling();
    end();
    return spool::read_samples(spool::SpoolDirectory(path()));
  }
};

std::uint64_t weight_at(const spool::SampleData& data, std::uint32_t location) {
  std::uint64_t sum = 0;
  for (const spool::ThreadSample& one : data.samples) {
    if (one.location == location) sum += one.weight_ns;
  }
  return sum;
}

TEST_F(BroughtThreadsTest, AreSampledWithoutARecordOfTheirOwn) {
  Worker worker;
  for (int again = 0; again < 3; ++again) {
    const std::uint32_t location = begin_with(worker);
    sample_brought_threads();  // nothing is left to do
    worker.wait_for_work(100 * kMs);
    const spool::SampleData data = end_sampling();
    EXPECT_EQ(data.threads, 2u);
    EXPECT_GE(weight_at(data, location), 80 * kMs);
    worker.wait_for_work(10 * kMs);  // late ticks find nothing
  }
}

// A thread that records something takes its recorder over, and its ticks go on.
TEST_F(BroughtThreadsTest, GoOnWhenTheyRecord) {
  Worker worker;
  const EventWord word = region("f");
  for (int again = 0; again < 3; ++again) {
    const std::uint32_t location = begin_with(worker);
    worker.wait_for_work(50 * kMs);
    worker.call([&] { enter(word); });
    worker.wait_for_work(50 * kMs);
    worker.call([&] { leave(word); });
    const spool::SampleData data = end_sampling();
    EXPECT_EQ(data.threads, 2u);
    EXPECT_NEAR(static_cast<double>(weight_at(data, location)), 100.0 * kMs, 30.0 * kMs);
    const auto inside = [&](const auto& one) { return one.region == payload_of(word); };
    EXPECT_GE(std::ranges::count_if(data.samples, inside), 3);
  }
}

TEST_F(BroughtThreadsTest, MayEndWithOrWithoutARecord) {
  const EventWord word = region("f");
  for (const bool records : {true, false}) {
    Worker worker;
    const std::uint32_t location = begin_with(worker);
    worker.wait_for_work(50 * kMs);
    if (records) worker.call([&] { enter(word), leave(word); });
    worker.end();
    Worker next;  // may have the pthread id of the one that has ended
    next.call([&] { enter(word), leave(word); });
    next.wait_for_work(50 * kMs);
    next.end();
    const spool::SampleData data = end_sampling();
    EXPECT_EQ(data.threads, 3u);
    EXPECT_NEAR(static_cast<double>(weight_at(data, location)), 50.0 * kMs, 30.0 * kMs);
  }
}

TEST_F(BroughtThreadsTest, TakeTheirTicksOffAroundACall) {
  Worker worker;
  const std::uint32_t location = begin_with(worker);
  worker.wait_for_work(50 * kMs);
  worker.call([] { stop_ticks_of_thread(); });
  const spool::SampleData before = spool::read_samples(spool::SpoolDirectory(path()));
  worker.wait_for_work(50 * kMs);
  const spool::SampleData after = spool::read_samples(spool::SpoolDirectory(path()));
  worker.call([] { start_ticks_of_thread(); });
  worker.wait_for_work(50 * kMs);
  EXPECT_EQ(weight_at(before, location), weight_at(after, location));
  EXPECT_GT(weight_at(end_sampling(), location), weight_at(after, location) + 80 * kMs);
}

}  // namespace
}  // namespace timeloom::sample
