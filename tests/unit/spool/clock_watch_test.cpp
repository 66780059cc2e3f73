// The clocks of threads that record nothing for a while.
#include "spool/clock_watch.hpp"

#include <pthread.h>
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "os/process.hpp"
#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

class ClockWatchTest : public SpoolTest {
 protected:
  static clockid_t clock_of(pthread_t thread) {
    clockid_t clock{};
    EXPECT_EQ(pthread_getcpuclockid(thread, &clock), 0);
    return clock;
  }
  static clockid_t own_clock() { return clock_of(pthread_self()); }
  LastClocks last_clocks(std::uint32_t location) {
    return Reader::open(path())->last_clocks(location);
  }
};

// A thread that waits until it is told to end.
class Sleeper {
 public:
  ~Sleeper() { end(); }
  pthread_t id() { return thread_.native_handle(); }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    told_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  bool ends_ = false;
  std::thread thread_{[this] {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [this] { return ends_; });
  }};
};

TEST_F(ClockWatchTest, AKilledProcessLeavesBothReadings) {
  Writer& writer = create();
  ThreadClocks* const place = writer.clock_watch().add(7, own_clock());
  put_reading(place->at_event, 1, 2, 3);
  const os::ClockSync before = os::sync_clocks();
  writer.clock_watch().look();
  const os::ClockSync after = os::sync_clocks();
  const LastClocks clocks = last_clocks(7);
  EXPECT_EQ(clocks.at_event.ticks, 1u);
  EXPECT_EQ(clocks.at_event.wall, 2u);
  EXPECT_EQ(clocks.at_event.cpu, 3u);
  EXPECT_GE(clocks.seen.ticks, before.ticks);
  EXPECT_LE(clocks.seen.ticks, after.ticks);
  EXPECT_GE(clocks.seen.wall, before.monotonic_ns);
  EXPECT_LE(clocks.seen.wall, after.monotonic_ns);
  EXPECT_GT(clocks.seen.cpu, 0u);
  EXPECT_LE(clocks.seen.cpu, os::thread_cpu_ns());
  EXPECT_EQ(last_clocks(6).seen.ticks, 0u);
  writer.clock_watch().remove(place);
  EXPECT_EQ(last_clocks(7).seen.ticks, 0u);
}

TEST_F(ClockWatchTest, AnEndedThreadStaysAsItWasSeenLast) {
  ClockWatch& watch = create().clock_watch();
  Sleeper sleeper;
  const clockid_t clock = clock_of(sleeper.id());
  const ThreadClocks* const place = watch.add(1, clock);
  watch.look();
  const std::uint64_t seen = place->seen.ticks;
  EXPECT_NE(seen, 0u);
  sleeper.end();
  // A thread that can be joined has its clock for a moment longer.
  for (timespec now{}; ::clock_gettime(clock, &now) == 0;) std::this_thread::yield();
  watch.look();
  watch.look();
  EXPECT_EQ(place->seen.ticks, seen);
  EXPECT_EQ(place->thread, 2u);
}

TEST_F(ClockWatchTest, AClockThatGoesBackIsThatOfAnotherThread) {
  ClockWatch& watch = create().clock_watch();
  ThreadClocks* const place = watch.add(1, own_clock());
  put_reading(place->seen, 1, 2, UINT64_MAX);
  watch.look();
  EXPECT_EQ(place->seen.ticks, 1u);
}

TEST_F(ClockWatchTest, PlacesAreUsedAgainAndHaveAnEnd) {
  ClockWatch& watch = create().clock_watch();
  std::vector<ThreadClocks*> places;
  for (std::uint32_t i = 0; i < kMostThreadClocks; ++i) {
    places.push_back(watch.add(i, own_clock()));
    ASSERT_NE(places.back(), nullptr);
  }
  EXPECT_EQ(watch.add(5000, own_clock()), nullptr);
  watch.remove(nullptr);
  watch.remove(places[3]);
  EXPECT_EQ(watch.add(5000, own_clock()), places[3]);
  EXPECT_EQ(places[3]->thread, 5001u);
  EXPECT_EQ(places[3]->seen.ticks, 0u);
  watch.look();
  EXPECT_NE(last_clocks(kMostThreadClocks - 1).seen.ticks, 0u);
  EXPECT_NE(last_clocks(5000).seen.ticks, 0u);
}

TEST_F(ClockWatchTest, TheDrainLooksWhenItComparesTheClocks) {
  Writer& writer = create();
  Sleeper sleeper;
  const ThreadClocks* const place = writer.clock_watch().add(1, clock_of(sleeper.id()));
  while (place->seen.ticks == 0) std::this_thread::yield();
  const std::uint64_t first = place->seen.ticks;
  while (place->seen.ticks == first) std::this_thread::yield();
  EXPECT_GE(read_definitions().clock_syncs.size(), 2u);
}

}  // namespace
}  // namespace timeloom::spool
