// Locks as properties of a run: back as they were, and whatever texts come from others.
#include "core/locks/lock_facts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace timeloom {
namespace {

LockRow some_row() {
  LockRow row;
  row.line = {"/tmp/a file%.py", "Ledger.<locals>.f", 7};
  row.kind = LockRowKind::kRLock;
  row.unmade = true;
  row.locks = 2;
  row.processes = 1;
  row.takes = 10;
  row.held = 1'000'000'007;
  row.waits = 3;
  row.waited = 5;
  row.threads = 2;
  row.holders.push_back({{"", "", 0}, 10, 1'000'000'007, 9, 4});
  row.waiters.push_back({UINT64_MAX, 1, 2, {"x\n\xff.py", "g", 9}, 3, 5, 4});
  return row;
}

TEST(LockFacts, ComeBack) {
  LockFacts facts{.recorded = true, .lost = 4, .rows = {some_row()}, .stuck = {}};
  facts.stuck.push_back(
      {StuckBy::kEnded, 1, 2, 3, {"a.py", "f", 1}, 4, {"b.py", "g", 2}, "Queue", {"c.py", "h", 3}});
  RunProperties properties;
  put_locks(facts, properties);
  const LockFacts back = locks_in(properties);
  EXPECT_TRUE(back.recorded);
  EXPECT_EQ(back.lost, 4u);
  ASSERT_EQ(back.rows.size(), 1u);
  const LockRow& row = back.rows.front();
  EXPECT_EQ(row.line, some_row().line);
  EXPECT_EQ(row.maker, "");
  EXPECT_EQ(row.kind, LockRowKind::kRLock);
  EXPECT_TRUE(row.unmade);
  EXPECT_EQ(row.held, 1'000'000'007u);
  EXPECT_EQ(row.threads, 2u);
  ASSERT_EQ(row.holders.size(), 1u);
  EXPECT_EQ(row.holders[0].line, LockLine());
  EXPECT_EQ(row.holders[0].blocked, 4u);
  ASSERT_EQ(row.waiters.size(), 1u);
  EXPECT_EQ(row.waiters[0].line.file, "x\n\xff.py");
  EXPECT_EQ(row.waiters[0].location, UINT64_MAX);
  ASSERT_EQ(back.stuck.size(), 1u);
  EXPECT_EQ(back.stuck[0].by, StuckBy::kEnded);
  EXPECT_EQ(back.stuck[0].maker, "Queue");
  EXPECT_EQ(back.stuck[0].taken_at, (LockLine{"c.py", "h", 3}));
}

TEST(LockFacts, AreAbsentWithoutTheOption) {
  RunProperties properties;
  put_locks({}, properties);
  EXPECT_TRUE(properties.empty());
  EXPECT_FALSE(locks_in(properties).recorded);
}

// Every text that is shorter by some words or bytes is left out, or is a row of its own.
TEST(LockFacts, LeaveOutMalformedRows) {
  RunProperties properties;
  put_locks({.recorded = true, .lost = 0, .rows = {some_row()}, .stuck = {}}, properties);
  const std::string key = "timeloom::lock_000000";
  const std::string whole = properties.at(key);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    properties[key] = whole.substr(0, size);
    const LockFacts back = locks_in(properties);
    ASSERT_TRUE(back.recorded);
    for (const LockRow& row : back.rows) EXPECT_EQ(row.waiters.size(), 1u);
  }
  properties[key] = "a f 1 % 1 0 1 1 0 0 1 1 1 1 1 18446744073709551615 18446744073709551615";
  EXPECT_TRUE(locks_in(properties).rows.empty());
  properties[key] = "a f 1 %zz 1 0 1 1 0 0 1 1 1 1 1 0 0";
  EXPECT_TRUE(locks_in(properties).rows.empty());
  properties[key] = "a f 1 % 6 0 1 1 0 0 1 1 1 1 1 0 0";
  EXPECT_TRUE(locks_in(properties).rows.empty());
}

TEST(LockFacts, TellSignalsFromLocks) {
  LockRow row;
  row.takes = 4;
  row.foreign = 1;
  EXPECT_FALSE(row.is_signal());
  row.foreign = 2;
  EXPECT_TRUE(row.is_signal());
  row.foreign = 0;
  row.kind = LockRowKind::kCondition;
  EXPECT_TRUE(row.is_signal());
}

}  // namespace
}  // namespace timeloom
