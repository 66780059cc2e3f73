// Locks of processes put together; threads that can never go on.
#include "weave/locks/lock_rows.hpp"

#include <gtest/gtest.h>

namespace timeloom::weave {
namespace {

using spool::LockData;
using spool::LockKind;

LockRows::Process process_of(std::uint64_t number) {
  return {number, 1000, [](std::uint64_t ticks) { return 2 * ticks; },
          [](std::uint32_t index) { return std::uint64_t{index} + 100; }};
}

// Two threads, each of which has a lock of its own and waits for the one of the other.
LockData circle() {
  LockData data;
  data.exists = true;
  data.sites = {{{"a.py", "<module>", 1}, "", LockKind::kLock, false, 1, 0, 0},
                {{"a.py", "<module>", 2}, "", LockKind::kRLock, false, 1, 0, 0}};
  data.threads = {{0, false, 2, {"a.py", "f", 5}, 400}, {1, false, 1, {"a.py", "g", 9}, 500}};
  data.wanted = {{0, 1, {"a.py", "f", 4}, 300}, {1, 2, {"a.py", "g", 8}, 300}};
  return data;
}

TEST(StuckChains, FindACircle) {
  const auto chains = stuck_chains(circle());
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].by, StuckBy::kCircle);
  EXPECT_EQ(chains[0].threads, (std::vector<std::uint32_t>{0, 1}));
}

TEST(StuckChains, LeaveOutThreadsBehindACircle) {
  LockData data = circle();
  data.threads.insert(data.threads.begin(), {9, false, 2, {"a.py", "h", 11}, 600});
  for (auto& wanted : data.wanted) ++wanted.owner;
  const auto chains = stuck_chains(data);
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].threads, (std::vector<std::uint32_t>{2, 1}));
}

TEST(StuckChains, NeedEveryThreadToWait) {
  LockData data = circle();
  data.threads[1].wanted = 0;
  EXPECT_TRUE(stuck_chains(data).empty());
  data.threads[1].ended = true;
  const auto chains = stuck_chains(data);
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].by, StuckBy::kEnded);
  EXPECT_EQ(chains[0].threads, (std::vector<std::uint32_t>{0}));
}

TEST(StuckChains, KnowNoOwnerOfASignal) {
  for (const LockKind kind : {LockKind::kCondition, LockKind::kSemaphore}) {
    LockData data = circle();
    data.sites[0].kind = kind;
    EXPECT_TRUE(stuck_chains(data).empty());
  }
  LockData data = circle();
  data.sites[1].foreign = 1;
  EXPECT_TRUE(stuck_chains(data).empty());
}

TEST(StuckChains, FindAnOwnerThatIsNotInTheProcess) {
  LockData data = circle();
  data.wanted[0].owner = 0;
  const auto chains = stuck_chains(data);
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].by, StuckBy::kGone);
  EXPECT_EQ(chains[0].threads, (std::vector<std::uint32_t>{1}));
  data.wanted[0].since = 0;  // it is free: the thread goes on
  EXPECT_TRUE(stuck_chains(data).empty());
}

TEST(StuckChains, FindAThreadThatWaitsForItself) {
  LockData data = circle();
  data.wanted[1].owner = 1;
  const auto chains = stuck_chains(data);
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].threads, (std::vector<std::uint32_t>{0}));
}

TEST(LockRows, PutProcessesTogether) {
  LockData data = circle();
  data.holds = {{0, {"a.py", "f", 4}, 3, 30, 20, 10}, {0, {"a.py", "h", 7}, 1, 50, 50, 0}};
  data.waits = {{0, 1, {"a.py", "g", 9}, 2, 10, 6}};
  LockRows rows;
  rows.add(data, process_of(0));
  rows.add(data, process_of(1));
  const LockFacts facts = rows.take();
  EXPECT_TRUE(facts.recorded);
  ASSERT_EQ(facts.rows.size(), 2u);
  const LockRow& second = facts.rows[0];  // waited for longest, and never taken in these records
  EXPECT_EQ(second.line.line, 2u);
  EXPECT_EQ(second.waited, 2 * 2 * 600u);
  const LockRow& first = facts.rows[1];
  EXPECT_EQ(first.line.line, 1u);
  EXPECT_EQ(first.locks, 2u);
  EXPECT_EQ(first.processes, 2u);
  EXPECT_EQ(first.takes, 8u);
  EXPECT_EQ(first.held, 2 * 2 * 80u);
  EXPECT_EQ(first.waits, 2 * 3u);
  EXPECT_EQ(first.waited, 2 * 2 * (10 + 500u));
  EXPECT_EQ(first.threads, 2u);
  ASSERT_EQ(first.holders.size(), 2u);
  EXPECT_EQ(first.holders[0].line.function, "h");
  EXPECT_EQ(first.holders[1].blocked, 2 * 2 * 10u);
  EXPECT_EQ(first.holders[1].longest, 2 * 20u);
  ASSERT_EQ(first.waiters.size(), 2u);
  EXPECT_EQ(first.waiters[0].location, 101u);
  EXPECT_EQ(first.waiters[0].longest, 2 * 500u);
  ASSERT_EQ(facts.stuck.size(), 4u);
  EXPECT_EQ(facts.stuck[1].circle, 0u);
  EXPECT_EQ(facts.stuck[2].circle, 1u);
  EXPECT_EQ(facts.stuck[0].made_at.line, 2u);
  EXPECT_EQ(facts.stuck[0].taken_at.line, 8u);
}

TEST(LockRows, AreOfRunsThatRecordThem) {
  LockRows rows;
  rows.add(LockData(), process_of(0));
  EXPECT_FALSE(rows.take().recorded);
}

}  // namespace
}  // namespace timeloom::weave
