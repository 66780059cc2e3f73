#include "view/answers/source_locks.hpp"

#include <map>
#include <ranges>

namespace timeloom::view {
namespace {

// Weaving keeps the longest waits and holds of a lock.
bool is_cut(const LockRow& row) {
  std::uint64_t waits = 0, takes = 0;
  for (const LockWaiter& waiter : row.waiters) waits += waiter.waits;
  for (const LockHolder& holder : row.holders) takes += holder.takes;
  return waits < row.waits || takes < row.takes;
}

}  // namespace

std::vector<LineLocks> locks_on_lines(const LockFacts& facts, const Region& region) {
  std::map<std::uint32_t, LineLocks> found;
  bool cut = false;  // the lock at hand
  // Null: the line is in another file, or not known.
  const auto amounts_of = [&](const LockLine& at) -> LineLocks* {
    if (at.line == 0 || at.file.empty() || at.file != region.file) return nullptr;
    LineLocks& line = found.try_emplace(at.line, LineLocks{.line = at.line}).first->second;
    line.at_least = line.at_least || cut;
    return &line;
  };
  for (const LockRow& row : facts.rows) {
    cut = is_cut(row);
    for (const LockWaiter& waiter : row.waiters) {
      LineLocks* const line = amounts_of(waiter.line);
      if (line == nullptr) continue;
      line->waits += waiter.waits;
      line->waited += waiter.waited;
    }
    if (row.is_signal()) continue;  // which nobody holds
    for (const LockHolder& holder : row.holders) {
      LineLocks* const line = amounts_of(holder.line);
      if (line == nullptr) continue;
      line->held += holder.held;
      line->blocked += holder.blocked;
    }
  }
  std::vector<LineLocks> lines;
  for (const LineLocks& line : found | std::views::values) lines.push_back(line);
  return lines;
}

}  // namespace timeloom::view
