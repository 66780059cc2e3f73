// The locks of the process while they are recorded: which thread has each of them, since when and
// from which line; the threads that wait. Counts go to the file `locks` of the spool.
//
// Owned by the caller, which serialises all calls (the GIL). A lock is known by its address until
// forget(). A place is a line of the program; a site is a place that made locks, with their kind.
// Times (`now`) are ticks of os::now(). Throws std::bad_alloc; functions that are noexcept do not.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "record/locks/lock_file.hpp"
#include "record/locks/pointer_map.hpp"

namespace timeloom::record {

using spool::kNoLocation;
using spool::LockKind;

class LockAccount {
 public:
  using PlaceId = std::uint32_t;
  using SiteId = std::uint32_t;
  using ThreadId = std::uint32_t;
  static constexpr std::uint32_t kNone = LockFile::kNone;

  struct Lock {
    SiteId site = kNone;
    ThreadId owner = kNone;  // kNone with a depth: a thread that is not known
    std::uint32_t depth = 0;
    PlaceId place = kNone;  // the line at which it was taken last
    std::uint32_t hold = kNone;
    std::uint32_t wanted = kNone;  // its entry while threads wait
    std::uint32_t waiters = 0;
    bool recursive = false;     // its owner may take it again
    bool several = false;       // it is a semaphore, which no thread owns
    bool shared = false;        // with other processes, which may release it
    std::uint64_t since = 0;    // ticks, of the taking
    std::uint64_t changed = 0;  // ticks, when the number of waiters changed or was accounted for
    std::uint64_t wakeup = 0;   // the caller's number of its last release; 0: none, or it was taken
  };

  // nullptr: there is no space for the file.
  static std::unique_ptr<LockAccount> begin();
  // In the child of a fork: an account of its own, with the locks as they are; `thread` is the
  // forking thread's id, the only one that goes on.
  static std::unique_ptr<LockAccount> continue_in_child(LockAccount& parent, ThreadId thread);
  void end() noexcept;

  PlaceId place(std::string_view file, std::string_view function, std::uint32_t line);
  std::uint32_t text(std::string_view text);
  SiteId site(PlaceId place, std::uint32_t maker, LockKind kind, bool unmade);
  ThreadId add_thread(std::uint32_t location);

  // nullptr: it is not known.
  Lock* find(const void* lock) noexcept {
    Lock** const found = locks_.find(lock);
    return found == nullptr ? nullptr : *found;
  }
  Lock& add(const void* lock, SiteId site, LockKind kind, bool recursive);
  // The lock is destroyed.
  void forget(const void* lock) noexcept;
  // It is free again without a release, in the child of a fork.
  void reset(Lock& lock, std::uint64_t now) noexcept;

  // The thread took it.
  void taken(Lock& lock, ThreadId thread, PlaceId place, std::uint64_t now,
             std::uint32_t times = 1);
  // The thread released it once, or entirely (Condition.wait() releases an RLock). True if a thread
  // of this process that waits for it goes on.
  bool released(Lock& lock, ThreadId thread, std::uint64_t now, bool entirely = false) noexcept;
  void refused(Lock& lock) noexcept;

  // A wait of the thread; one may begin within another, in a handler of a signal.
  struct Waiting {
    ThreadId thread;
    PlaceId place;
    std::uint64_t since;
    std::uint32_t outer_wanted;
    spool::LockPlace outer_place;
    std::uint64_t outer_since;
  };
  Waiting wait_begins(Lock& lock, ThreadId thread, PlaceId place, std::uint64_t now) noexcept;
  void wait_ends(Lock& lock, const Waiting& waiting, std::uint64_t now);

  const std::shared_ptr<LockFile>& file() const noexcept { return file_; }

 private:
  explicit LockAccount(std::shared_ptr<LockFile> file) : file_(std::move(file)) {}
  void account_for_waiters(Lock& lock, std::uint64_t now) noexcept;
  void show_owner(const Lock& lock) noexcept;
  std::vector<ThreadId> circle_of(ThreadId first);
  void note_circle(ThreadId first, std::uint64_t now) noexcept;
  std::uint32_t add_circle(const std::vector<ThreadId>& circle) noexcept;
  std::uint32_t hold_of(SiteId site, PlaceId place);

  std::shared_ptr<LockFile> file_;
  PointerMap<Lock*> locks_;
  std::vector<std::unique_ptr<Lock[]>> blocks_;  // of locks, which stay where they are
  std::vector<Lock*> free_;
  std::vector<spool::LockPlace> places_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, PlaceId> place_ids_;
  std::map<std::string, std::uint32_t, std::less<>> texts_;
  std::map<std::tuple<PlaceId, std::uint32_t, LockKind, bool>, SiteId> sites_;
  std::map<std::pair<SiteId, PlaceId>, std::uint32_t> holds_;
  std::map<std::tuple<SiteId, ThreadId, PlaceId>, std::uint32_t> waits_;
  // From site, line that waited and line that had the lock, for each thread, to the first entry.
  std::map<std::vector<std::uint32_t>, std::uint32_t> circles_;
  std::vector<std::uint32_t> unwanted_;  // free entries of the table of wanted locks
};

}  // namespace timeloom::record
