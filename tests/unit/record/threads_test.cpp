// Many threads that record at the same time.
#include <atomic>
#include <thread>

#include "os/thread.hpp"
#include "record/measurement_state.hpp"
#include "record/native/native_call.hpp"
#include "record_fixture.hpp"

namespace timeloom::record {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kPairs = 50'000;  // sanitizers slow the event path down tenfold
#else
constexpr std::uint64_t kPairs = 500'000;
#endif

class ThreadsTest : public RecordTest {};

// Each thread writes a unique sequence, so that a misplaced event is noticed.
TEST_F(ThreadsTest, AMillionEventsOfEachOfEightThreadsAreAllThereInOrder) {
  constexpr std::uint32_t kThreads = 8;
  constexpr std::uint32_t kRegions = 1000;
  begin();
  std::vector<EventWord> regions;
  for (std::uint32_t i = 0; i < kRegions; ++i) regions.push_back(region("r" + std::to_string(i)));
  const auto nth = [&](std::uint32_t thread, std::uint64_t i) {
    return regions[(i * 7 + thread * 13) % kRegions];
  };
  std::vector<std::uint32_t> locations(kThreads);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kPairs; ++i) {
        enter(nth(t, i));
        leave(nth(t, i));
      }
      locations[t] = t_recorder->location();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Totals totals = stop();
  EXPECT_EQ(totals.events, 2 * kPairs * kThreads);
  EXPECT_EQ(totals.lost_events, 0u);
  EXPECT_EQ(totals.threads, kThreads + 1);
  const auto reader = spool::Reader::open(path());
  EXPECT_FALSE(reader->damage().any());
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    auto events = reader->read(locations[t]);
    std::vector<Event> batch;
    std::uint64_t count = 0, last = 0;
    while (events.next(batch)) {
      for (const Event& event : batch) {
        ASSERT_EQ(event.ref, payload_of(nth(t, count / 2)));
        ASSERT_EQ(event.kind, count % 2 == 0 ? EventKind::kEnter : EventKind::kLeave);
        ASSERT_GE(ticks(event.time), last);
        last = ticks(event.time);
        ++count;
      }
    }
    EXPECT_EQ(count, 2 * kPairs);
  }
}

TEST_F(ThreadsTest, AThreadThatEndsLeavesWhatItHadOpen) {
  begin();
  const EventWord f = region("f"), g = region("g");
  std::thread([&] {
    enter(f);
    enter(g);
  }).join();
  EXPECT_EQ(totals().events, 4u);
  const Recorded found = end();
  EXPECT_EQ(found.threads.at(1), (Lines{"enter f", "enter g", "leave g", "leave f"}));
  EXPECT_EQ(found.definitions.threads.at(1).name, "Thread 1");
}

TEST_F(ThreadsTest, MoreThreadsThanSegments) {
  begin(small());
  const EventWord f = region("f");
  constexpr std::uint32_t kThreads = 40;
  std::atomic<std::uint32_t> inside = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      enter(f);
      ++inside;
      while (inside < kThreads) std::this_thread::yield();
      leave(f);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Recorded found = end();
  EXPECT_EQ(found.threads.size(), kThreads);
  for (const auto& [location, lines] : found.threads) {
    EXPECT_EQ(lines, (Lines{"enter f", "leave f"})) << location;
  }
  EXPECT_EQ(totals_.error, 0);
}

TEST_F(ThreadsTest, ThreadsComeAndGo) {
  begin(small());
  const EventWord f = region("f");
  for (int i = 0; i < 200; ++i) {
    std::thread([&] {
      enter(f);
      leave(f);
    }).join();
  }
  const Recorded found = end();
  EXPECT_EQ(found.threads.size(), 200u);
  EXPECT_EQ(found.events, 400u);
  EXPECT_EQ(totals_.threads, 201u);
}

TEST_F(ThreadsTest, AThreadFromBeforeTakesPartInEveryMeasurement) {
  const EventWord f = region("f");
  std::atomic<int> round = 0, done = 0;
  std::thread worker([&] {
    for (int i = 1; i <= 3; ++i) {
      while (round < i) std::this_thread::yield();
      enter(f);
      leave(f);
      done = i;
    }
  });
  for (int i = 1; i <= 3; ++i) {
    begin();
    round = i;
    while (done < i) std::this_thread::yield();
    EXPECT_EQ(end().threads.at(1), (Lines{"enter f", "leave f"}));
    next_spool();
  }
  worker.join();
}

TEST_F(ThreadsTest, AThreadThatIsKeptOffTakesPartInNone) {
  const EventWord f = region("f");
  std::atomic<int> round = 0, done = 0;
  std::thread worker([&] {
    const std::uint64_t id = os::thread_id();
    keep_off_threads({&id, 1});
    for (int i = 1; i <= 2; ++i) {
      while (round < i) std::this_thread::yield();
      enter(f);
      leave(f);
      done = i;
    }
  });
  for (int i = 1; i <= 2; ++i) {
    begin();
    enter(f);
    round = i;
    while (done < i) std::this_thread::yield();
    leave(f);
    const Recorded found = end();
    EXPECT_EQ(found.threads.size(), 1u);
    EXPECT_EQ(found.threads.at(0), (Lines{"enter f", "leave f"}));
    next_spool();
  }
  worker.join();
}

// A visitor may destroy the writer: a call that does not wait for it must not use it.
TEST_F(ThreadsTest, CallsDuringAVisitLeaveTheWriterToTheVisitor) {
  begin();
  struct Facts {
    std::atomic<bool> attached = false, visited = false, called = false;
    bool had_recorder = true;
    std::uint64_t lost = 0;  // during the visit
  } facts;
  std::thread caller([&] {
    { const NativeCall attaches; }
    facts.attached = true;
    facts.attached.notify_one();
    facts.visited.wait(false);
    const NativeCall call(kAtOnce);
    facts.had_recorder = call.recorder() != nullptr;
    facts.called = true;
    facts.called.notify_one();
  });
  facts.attached.wait(false);
  const auto visit = [](ThreadRecorder&, std::uintptr_t, void* context) {
    auto& of_test = *static_cast<Facts*>(context);
    of_test.visited = true;
    of_test.visited.notify_one();
    of_test.called.wait(false);
    of_test.lost = state().writer->lost();
  };
  for_each_recorder(visit, &facts);
  caller.join();
  EXPECT_FALSE(facts.had_recorder);
  EXPECT_EQ(facts.lost, 0u);
  EXPECT_EQ(totals().lost_events, 1u);
  EXPECT_EQ(stop().lost_events, 1u);
}

}  // namespace
}  // namespace timeloom::record
