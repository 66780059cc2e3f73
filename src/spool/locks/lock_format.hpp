// The file `locks` of a spool: the locks of the process, the lines that took them, the threads that
// waited for them. docs/formats/spool.md describes its bytes for other readers.
//
// The process counts in a shared mapping, so the file is complete at every instant. It has a header
// and seven tables at fixed places; the unused rest of a table is a hole. Numbers in the tables are
// indices into the others; a text is an offset into the table of texts.
//
// Plain values, for any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace timeloom::spool {

inline constexpr char kLockFile[] = "locks";
inline constexpr std::uint64_t kLockMagic = 0x314b'434f'4c4c'5401;  // "\x01TLLOCK1"
inline constexpr std::uint16_t kLockVersion = 2;

using LockCount = std::atomic<std::uint64_t>;
static_assert(LockCount::is_always_lock_free && sizeof(LockCount) == 8);

inline constexpr std::size_t kLongestLockText = 1024;

enum LockTable : std::uint8_t {
  kLockTexts,
  kLockSites,
  kLockHolds,
  kLockWaits,
  kLockThreads,
  kLockWanted,
  kLockCircles
};
inline constexpr std::size_t kLockTables = 7;

struct LockHeader {
  std::uint64_t magic;
  std::uint16_t version;
  std::uint16_t reserved;
  std::uint32_t check;          // checksum() of the 12 bytes before
  LockCount used[kLockTables];  // entries; of the texts: bytes
  LockCount last;               // ticks of the last change
  LockCount end;                // ticks; 0: the process was ended before it could finish
  LockCount lost;               // locks, functions or waits without a place in their table
};
static_assert(sizeof(LockHeader) == 96);

// A line of the program.
struct LockPlace {
  std::uint32_t file;      // a text
  std::uint32_t function;  // a text
  std::uint32_t line;      // 0: not known
};
static_assert(sizeof(LockPlace) == 12);

enum class LockKind : std::uint32_t {
  kLock = 1,       // _thread.lock
  kRLock = 2,      // _thread.RLock
  kSemLock = 3,    // _multiprocessing.SemLock, as a lock
  kCondition = 4,  // a lock by which a thread waits for Condition.notify()
  kSemaphore = 5   // SemLock of which several may be taken
};

// Locks that the same line has made.
struct LockSite {
  LockPlace place;
  std::uint32_t maker;  // a text: the function of the library that made it for this line; or empty
  LockKind kind;
  std::uint32_t unmade;  // 1: it is not known where the lock was made, and the place is where it
                         // was taken first
  LockCount made;
  LockCount refused;  // attempts that ended without the lock
  LockCount foreign;  // releases by another thread than the one that had taken it
};
static_assert(sizeof(LockSite) == 48);

// A line that took locks of a site.
struct LockHold {
  std::uint32_t site;
  LockPlace place;
  LockCount takes;
  LockCount held;     // ticks
  LockCount longest;  // ticks
  LockCount blocked;  // ticks that others have waited meanwhile, all of them together
};
static_assert(sizeof(LockHold) == 48);

// A line at which a thread waited for locks of a site.
struct LockWait {
  std::uint32_t site;
  std::uint32_t thread;
  LockPlace place;
  std::uint32_t reserved;
  LockCount waits;
  LockCount waited;   // ticks
  LockCount longest;  // ticks
};
static_assert(sizeof(LockWait) == 48);

inline constexpr std::uint32_t kNoLocation = UINT32_MAX;

struct LockThread {
  std::uint32_t location;             // kNoLocation: not recorded, or a thread of the parent
  std::atomic<std::uint32_t> ended;   // 1: it has ended
  std::atomic<std::uint32_t> wanted;  // 1 + the index of the lock that it waits for now; 0: none
  LockPlace place;                    // at which it waits
  LockCount since;                    // ticks
};
static_assert(sizeof(LockThread) == 32);

// A lock for which threads wait. Its entry is used again when no thread waits for it any more.
struct LockWanted {
  std::uint32_t site;
  std::atomic<std::uint32_t> owner;  // 1 + the index of the thread that has it; 0: not known
  LockPlace place;                   // at which it was taken
  std::uint32_t reserved;
  LockCount since;  // ticks
};
static_assert(sizeof(LockWanted) == 32);

// A thread of a circle of threads that waited for each other until one of them gave up. The threads
// of a circle follow each other, each before the thread that had its lock.
struct LockCircle {
  std::uint32_t circle;  // the index of the first one, which gave up
  std::uint32_t thread;
  LockPlace place;  // at which it waited
  std::uint32_t site;
  LockPlace taken_at;  // by the next one
  std::uint32_t reserved;
  LockCount closed;  // ticks, the longest of the same circles
};
static_assert(sizeof(LockCircle) == 48);

struct LockTableLayout {
  std::uint64_t offset;
  std::uint64_t entry;  // bytes
  std::uint64_t most;   // entries
};
inline constexpr LockTableLayout kLockLayout[kLockTables] = {{0x1000, 1, 0x200000},
                                                             {0x201000, sizeof(LockSite), 0x4000},
                                                             {0x2c1000, sizeof(LockHold), 0x10000},
                                                             {0x5c1000, sizeof(LockWait), 0x10000},
                                                             {0x8c1000, sizeof(LockThread), 0x4000},
                                                             {0x941000, sizeof(LockWanted), 0x4000},
                                                             {0x9c1000, sizeof(LockCircle), 0x400}};
inline constexpr std::uint64_t kLockFileSize = 0x9cd000;

constexpr bool lock_tables_fit() {
  for (std::size_t i = 0; i < kLockTables; ++i) {
    const std::uint64_t next = i + 1 < kLockTables ? kLockLayout[i + 1].offset : kLockFileSize;
    if (kLockLayout[i].offset + kLockLayout[i].entry * kLockLayout[i].most > next) return false;
  }
  return true;
}
static_assert(lock_tables_fit());

}  // namespace timeloom::spool
