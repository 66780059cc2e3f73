// A program killed at a random instruction leaves all its records.
#include <chrono>
#include <random>
#include <thread>

#include "../support/child.hpp"
#include "../support/thorough.hpp"
#include "record_fixture.hpp"

namespace timeloom::record {
namespace {

class KillTest : public RecordTest {
 protected:
  // Kills the program `delay` after its first event and checks the spool.
  void kill_after(std::chrono::microseconds delay, unsigned threads,
                  const std::string& mode = "forever") {
    next_spool();
    const std::string counters_path = path() + "-counters";
    const test::SharedCounters counters(counters_path);
    test::Child child(
        {TIMELOOM_RECORD_VICTIM, mode, path(), counters_path, std::to_string(threads)});
    while (counters[0] == 0 && child.running()) std::this_thread::yield();
    std::this_thread::sleep_for(delay);
    EXPECT_EQ(alive(path()), Alive::kYes);
    child.end();
    EXPECT_NE(alive(path()), Alive::kYes);
    expect_all(counters, threads);
  }

  void expect_all(const test::SharedCounters& counters, unsigned threads) {
    const auto reader = spool::Reader::open(path());
    EXPECT_FALSE(reader->definitions().ended);
    EXPECT_FALSE(reader->damage().any());
    EXPECT_EQ(reader->definitions().lost_events, 0u);
    for (unsigned t = 0; t < threads; ++t) {
      const std::uint64_t put = counters[t];
      if (put == 0) continue;  // had not started
      const auto location = static_cast<std::uint32_t>(counters[8 + t]);
      auto events = reader->read(location);
      std::uint64_t count = 0;
      for (std::vector<Event> batch; events.next(batch);) {
        for (const Event& event : batch) {
          const EventKind expected = count++ % 2 == 0 ? EventKind::kEnter : EventKind::kLeave;
          ASSERT_EQ(event.kind, expected);
        }
      }
      EXPECT_EQ(events.damaged_segments(), 0u);
      EXPECT_GE(count, put);      // an event is counted after it is recorded,
      EXPECT_LE(count, put + 1);  // so at most one is not counted
    }
  }
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
const int kKills = 10;
#else
const int kKills = test::rounds(20, 50);
#endif

TEST_F(KillTest, AtRandomMoments) {
  std::mt19937 random(20);
  for (int i = 0; i < kKills; ++i) {
    const std::chrono::microseconds delay(random() % 20000);
    SCOPED_TRACE("kill " + std::to_string(i) + " after " + std::to_string(delay.count()) + " us");
    kill_after(delay, 1 + static_cast<unsigned>(i) % 4);
    if (HasFailure()) return;
  }
}

// A thread's first segment is full after some milliseconds, and has grown three times by then.
TEST_F(KillTest, WhileSegmentsGrow) {
  std::mt19937 random(21);
  for (int i = 0; i < kKills; ++i) {
    const std::chrono::microseconds delay(random() % 3000);
    SCOPED_TRACE("kill " + std::to_string(i) + " after " + std::to_string(delay.count()) + " us");
    kill_after(delay, 4, "grows");
    if (HasFailure()) return;
  }
}

TEST_F(KillTest, AtOnce) {
  for (int i = 0; i < 5; ++i) kill_after(std::chrono::microseconds(0), 1);
}

}  // namespace
}  // namespace timeloom::record
