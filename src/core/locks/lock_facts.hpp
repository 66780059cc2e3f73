// The locks of a run (--locks): the lines that made and took them, how long these held them, the
// threads that waited, and threads that wait for each other in a circle. Weaving writes them as
// properties of the run.
//
// Plain values and pure functions, for any thread; throw std::bad_alloc alone. A text may come from
// anybody: rows that are malformed are left out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"

namespace timeloom {

inline constexpr char kLocks[] = "timeloom::locks";             // the run has recorded locks
inline constexpr char kLockRow[] = "timeloom::lock_";           // and a number: a LockRow
inline constexpr char kStuckRow[] = "timeloom::stuck_thread_";  // and a number: a StuckThread

struct LockLine {
  std::string file;
  std::string function;
  std::uint32_t line = 0;  // 0: not known
  auto operator<=>(const LockLine&) const = default;
};

// Times are in nanoseconds.
struct LockHolder {
  LockLine line;
  std::uint64_t takes = 0;
  std::uint64_t held = 0;
  std::uint64_t longest = 0;
  std::uint64_t blocked = 0;  // that others have waited meanwhile, all of them together
};

struct LockWaiter {
  std::uint64_t location = UINT64_MAX;  // a LocationId of the run; UINT64_MAX: it is not recorded
  std::uint64_t process = 0;            // its group in the run
  std::uint64_t thread = 0;             // its number in its process
  LockLine line;
  std::uint64_t waits = 0;
  std::uint64_t waited = 0;
  std::uint64_t longest = 0;
};

// The values of spool::LockKind.
enum class LockRowKind : std::uint8_t {
  kLock = 1,
  kRLock = 2,
  kSemLock = 3,
  kCondition = 4,
  kSemaphore = 5
};

// Locks that one line made, in all processes.
struct LockRow {
  LockLine line;
  std::string maker;  // the function of Python's library that made them for this line; or empty
  LockRowKind kind = LockRowKind::kLock;
  bool unmade = false;  // where they were made is not known: `line` is the first that took them
  std::uint64_t locks = 0;
  std::uint64_t processes = 0;
  std::uint64_t refused = 0;
  std::uint64_t foreign = 0;
  // Over all lines, also those that are left out below.
  std::uint64_t takes = 0, held = 0, waits = 0, waited = 0, threads = 0;
  std::vector<LockHolder> holders;  // the longest ones
  std::vector<LockWaiter> waiters;  // the longest ones
  // Whether one thread signals another with it: a condition, a semaphore, a lock that other threads
  // release. Waiting for one is not waiting for its holder.
  bool is_signal() const noexcept {
    return kind == LockRowKind::kCondition || kind == LockRowKind::kSemaphore ||
           (foreign > 0 && 2 * foreign >= takes);
  }
};

// Why a thread can never go on, at the end of the records: threads wait for each other (kCircle),
// for a thread that has ended, or for one that the forked child does not have (kGone). kGaveUp:
// threads waited for each other until the first of them gave up, by a timeout for one.
enum class StuckBy : std::uint8_t { kCircle = 0, kEnded = 1, kGone = 2, kGaveUp = 3 };
struct StuckThread {
  StuckBy by = StuckBy::kCircle;
  std::uint64_t circle = 0;  // the same number: they wait for each other, or for the same thread
  std::uint64_t location = UINT64_MAX;
  std::uint64_t process = 0;
  LockLine waits_at;
  std::uint64_t waited = 0;  // kGaveUp: as long as the circle was closed
  LockLine made_at;          // the lock that it waits for
  std::string maker;
  LockLine taken_at;  // by the thread that has it, the next of the circle
};

struct LockFacts {
  bool recorded = false;
  std::uint64_t lost = 0;
  std::vector<LockRow> rows;       // most waiting first
  std::vector<StuckThread> stuck;  // in order of their circles, each before the one it waits for
};

using RunProperties = std::map<std::string, std::string>;
void put_locks(const LockFacts& facts, RunProperties& properties);
LockFacts locks_in(const RunProperties& properties);

}  // namespace timeloom
