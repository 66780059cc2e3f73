// `timeloom report --locks --csv`: a row for each lock, each line that held it and each that
// waited.
#include <cstdint>
#include <vector>

#include "tools/report/locks/report_locks.hpp"
#include "tools/report/table/row_table.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;

// A lock, or one of the lines that held it or waited.
struct LockCsvRow {
  std::size_t id;
  const LockRow& lock;
  const LockHolder* holder = nullptr;
  const LockWaiter* waiter = nullptr;

  bool is_lock() const { return holder == nullptr && waiter == nullptr; }
  const char* word() const { return is_lock() ? "lock" : holder != nullptr ? "holder" : "waiter"; }
  const LockLine& line() const {
    return is_lock() ? lock.line : holder != nullptr ? holder->line : waiter->line;
  }
};

using OfLock = std::uint64_t LockRow::*;
using OfHolder = std::uint64_t LockHolder::*;
using OfWaiter = std::uint64_t LockWaiter::*;

// A number of the rows that have it; nullptr: those have not.
auto number(OfLock of_lock, OfHolder of_holder = nullptr, OfWaiter of_waiter = nullptr) {
  return [=](const LockCsvRow& row) -> ordered_json {
    if (row.is_lock() && of_lock != nullptr) return row.lock.*of_lock;
    if (row.holder != nullptr && of_holder != nullptr) return row.holder->*of_holder;
    if (row.waiter != nullptr && of_waiter != nullptr) return row.waiter->*of_waiter;
    return {};
  };
}

RowTable<LockCsvRow> lock_csv_table(const Definitions& definitions) {
  using Row = LockCsvRow;
  const auto line = [](const Row& row) {
    return row.line().line == 0 ? ordered_json() : ordered_json(row.line().line);
  };
  const auto thread = [&definitions](const Row& row) {
    if (row.waiter == nullptr) return ordered_json();
    const LockWaiter& one = *row.waiter;
    return ordered_json(lock_thread_name(one.location, one.process, definitions));
  };
  constexpr Unit kText = Unit::kText, kCount = Unit::kCount, kTime = Unit::kNanoseconds;
  return {"",
          {{"id", kCount, &Row::id},
           {"row", kText, &Row::word},
           {"lock", kText, [](const Row& row) { return lock_name(row.lock); }},
           {"kind", kText, [](const Row& row) { return lock_kind(row.lock.kind); }},
           {"signal", kText, [](const Row& row) { return row.lock.is_signal(); }},
           {"file", kText, [](const Row& row) { return row.line().file; }},
           {"line", kCount, line},
           {"function", kText, [](const Row& row) { return row.line().function; }},
           {"thread", kText, thread},
           {"locks", kCount, number(&LockRow::locks)},
           {"processes", kCount, number(&LockRow::processes)},
           {"taken", kCount, number(&LockRow::takes, &LockHolder::takes)},
           {"held_s", kTime, number(&LockRow::held, &LockHolder::held)},
           {"others_waited_s", kTime, number(nullptr, &LockHolder::blocked)},
           {"waits", kCount, number(&LockRow::waits, nullptr, &LockWaiter::waits)},
           {"waited_s", kTime, number(&LockRow::waited, nullptr, &LockWaiter::waited)},
           {"longest_s", kTime, number(nullptr, &LockHolder::longest, &LockWaiter::longest)},
           {"threads", kCount, number(&LockRow::threads)},
           {"attempts_in_vain", kCount, number(&LockRow::refused)},
           {"released_by_others", kCount, number(&LockRow::foreign)}}};
}

}  // namespace

void write_locks_csv(const LockFacts& facts, const Definitions& definitions, Output& output) {
  std::vector<LockCsvRow> rows;
  for (std::size_t id = 0; id < facts.rows.size(); ++id) {
    const LockRow& lock = facts.rows[id];
    rows.push_back({id, lock});
    for (const LockHolder& one : lock.holders) rows.push_back({id, lock, &one});
    for (const LockWaiter& one : lock.waiters) rows.push_back({id, lock, nullptr, &one});
  }
  lock_csv_table(definitions).write_csv(rows, output);
}

}  // namespace timeloom::tools
