#include "record/locks/lock_account.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "os/clock.hpp"

namespace timeloom::record {
namespace {

constexpr std::size_t kLocksOfBlock = 256;

void add_to(spool::LockCount& count, std::uint64_t more) noexcept {
  count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

void raise_to(spool::LockCount& most, std::uint64_t value) noexcept {
  if (value > most.load(std::memory_order_relaxed)) most.store(value, std::memory_order_relaxed);
}

// Clocks of two processors may differ by some ticks.
std::uint64_t since(std::uint64_t then, std::uint64_t now) noexcept {
  return now > then ? now - then : 0;
}

}  // namespace

std::unique_ptr<LockAccount> LockAccount::begin() {
  std::shared_ptr<LockFile> file = LockFile::open();
  if (file == nullptr) return nullptr;
  return std::unique_ptr<LockAccount>(new LockAccount(std::move(file)));
}

std::unique_ptr<LockAccount> LockAccount::continue_in_child(LockAccount& parent, ThreadId thread) {
  std::unique_ptr<LockAccount> child = begin();
  if (child == nullptr || !child->file_->copy_names(*parent.file_)) return nullptr;
  const ThreadId own = child->add_thread(kNoLocation);  // the caller tells its location
  child->places_ = parent.places_;
  child->place_ids_ = parent.place_ids_;
  child->texts_ = parent.texts_;
  child->sites_ = parent.sites_;
  child->holds_ = parent.holds_;
  const std::uint64_t now = os::now();
  parent.locks_.each([&](const void* address, Lock* from) {
    Lock& lock = child->add(address, from->site, LockKind::kLock, from->recursive);
    lock.several = from->several;
    lock.shared = from->shared;
    lock.depth = lock.shared ? 0 : from->depth;  // it is the parent's
    lock.owner = lock.depth > 0 && from->owner == thread ? own : kNone;
    lock.place = from->place;
    lock.hold = from->hold;
    lock.since = lock.changed = now;
  });
  // The parent has counted them.
  const std::uint64_t sites = child->file_->header().used[spool::kLockSites];
  for (std::uint32_t i = 0; i < sites; ++i) child->file_->site(i).made = 0;
  return child;
}

void LockAccount::end() noexcept {
  file_->header().last = os::now();
  file_->header().end = os::now();
}

std::uint32_t LockAccount::text(std::string_view text) {
  const auto known = texts_.find(text);
  if (known != texts_.end()) return known->second;
  return texts_.emplace(std::string(text), file_->text(text)).first->second;
}

LockAccount::PlaceId LockAccount::place(std::string_view file, std::string_view function,
                                        std::uint32_t line) {
  const spool::LockPlace place{text(file), text(function), line};
  const auto [known, is_new] = place_ids_.try_emplace(
      std::tuple(place.file, place.function, place.line), static_cast<PlaceId>(places_.size()));
  if (is_new) places_.push_back(place);
  return known->second;
}

LockAccount::SiteId LockAccount::site(PlaceId place, std::uint32_t maker, LockKind kind,
                                      bool unmade) {
  const auto [known, is_new] = sites_.try_emplace(std::tuple(place, maker, kind, unmade), kNone);
  if (!is_new) return known->second;
  known->second = file_->add(spool::kLockSites);
  if (known->second == kNone) return kNone;
  spool::LockSite& site = file_->site(known->second);
  site.place = places_[place];
  site.maker = maker;
  site.kind = kind;
  site.unmade = unmade ? 1 : 0;
  return known->second;
}

LockAccount::ThreadId LockAccount::add_thread(std::uint32_t location) {
  const ThreadId id = file_->add(spool::kLockThreads);
  if (id != kNone) file_->thread(id).location = location;
  return id;
}

LockAccount::Lock& LockAccount::add(const void* address, SiteId site, LockKind kind,
                                    bool recursive) {
  if (free_.empty()) {
    blocks_.push_back(std::make_unique<Lock[]>(kLocksOfBlock));
    for (std::size_t i = 0; i < kLocksOfBlock; ++i) free_.push_back(&blocks_.back()[i]);
  }
  Lock* const lock = free_.back();
  locks_.insert(address, 0, lock);
  free_.pop_back();
  *lock = {};
  lock->site = site;
  lock->recursive = recursive;
  lock->several = kind == LockKind::kSemaphore;
  lock->shared = lock->several || kind == LockKind::kSemLock;
  if (site != kNone) add_to(file_->site(site).made, 1);
  return *lock;
}

void LockAccount::forget(const void* address) noexcept {
  Lock* const lock = find(address);
  if (lock == nullptr || lock->waiters > 0) return;
  locks_.erase(address);
  free_.push_back(lock);  // has room: it has been in there
}

std::uint32_t LockAccount::hold_of(SiteId site, PlaceId place) {
  if (site == kNone || place == kNone) return kNone;
  const auto [known, is_new] = holds_.try_emplace(std::pair(site, place), kNone);
  if (!is_new) return known->second;
  known->second = file_->add(spool::kLockHolds);
  if (known->second == kNone) return kNone;
  spool::LockHold& hold = file_->hold(known->second);
  hold.site = site;
  hold.place = places_[place];
  return known->second;
}

// The time since the last change, for each thread that waits, counts for the line that has the
// lock.
void LockAccount::account_for_waiters(Lock& lock, std::uint64_t now) noexcept {
  if (lock.waiters > 0 && lock.depth > 0 && lock.hold != kNone) {
    add_to(file_->hold(lock.hold).blocked,
           lock.waiters * since(std::max(lock.changed, lock.since), now));
  }
  lock.changed = now;
}

void LockAccount::show_owner(const Lock& lock) noexcept {
  if (lock.wanted == kNone) return;
  spool::LockWanted& wanted = file_->wanted(lock.wanted);
  const bool owned = lock.depth > 0 && !lock.several;
  wanted.owner.store(owned && lock.owner != kNone ? lock.owner + 1 : 0, std::memory_order_relaxed);
  wanted.place = owned && lock.place != kNone ? places_[lock.place] : spool::LockPlace{};
  wanted.since.store(owned ? lock.since : 0, std::memory_order_relaxed);
}

void LockAccount::taken(Lock& lock, ThreadId thread, PlaceId place, std::uint64_t now,
                        std::uint32_t times) {
  if (lock.recursive && lock.depth > 0 && lock.owner == thread) {
    lock.depth += times;
    return;
  }
  if (lock.place != place || lock.hold == kNone) {
    lock.hold = hold_of(lock.site, place);
    lock.place = place;
  }
  account_for_waiters(lock, now);
  lock.owner = thread;
  lock.depth = lock.several ? 0 : times;
  lock.since = now;
  lock.wakeup = 0;
  if (lock.hold != kNone) add_to(file_->hold(lock.hold).takes, 1);
  show_owner(lock);
}

bool LockAccount::released(Lock& lock, ThreadId thread, std::uint64_t now, bool entirely) noexcept {
  if (lock.depth == 0) return false;  // taken before the measurement
  if (lock.depth > 1 && !entirely) {
    --lock.depth;
    return false;
  }
  if (lock.waiters > 0) account_for_waiters(lock, now);
  if (lock.owner != thread && lock.site != kNone) add_to(file_->site(lock.site).foreign, 1);
  if (lock.hold != kNone) {
    const std::uint64_t held = since(lock.since, now);
    spool::LockHold& hold = file_->hold(lock.hold);
    add_to(hold.held, held);
    raise_to(hold.longest, held);
  }
  lock.depth = 0;
  lock.owner = kNone;
  show_owner(lock);
  return lock.waiters > 0 && !lock.shared;
}

void LockAccount::reset(Lock& lock, std::uint64_t now) noexcept {
  account_for_waiters(lock, now);
  lock.depth = 0;
  lock.owner = kNone;
  show_owner(lock);
}

void LockAccount::refused(Lock& lock) noexcept {
  if (lock.site != kNone) add_to(file_->site(lock.site).refused, 1);
}

LockAccount::Waiting LockAccount::wait_begins(Lock& lock, ThreadId thread, PlaceId place,
                                              std::uint64_t now) noexcept {
  account_for_waiters(lock, now);
  if (lock.waiters++ == 0) {
    if (unwanted_.empty()) {
      lock.wanted = file_->add(spool::kLockWanted);
    } else {
      lock.wanted = unwanted_.back();
      unwanted_.pop_back();
    }
    if (lock.wanted != kNone) file_->wanted(lock.wanted).site = lock.site;
    show_owner(lock);
  }
  Waiting waiting{thread, place, now, 0, {}, 0};
  if (thread == kNone) return waiting;
  spool::LockThread& entry = file_->thread(thread);
  waiting.outer_wanted = entry.wanted;
  waiting.outer_place = entry.place;
  waiting.outer_since = entry.since;
  entry.place = place == kNone ? spool::LockPlace{} : places_[place];
  entry.since = now;
  entry.wanted.store(lock.wanted == kNone ? 0 : lock.wanted + 1, std::memory_order_release);
  return waiting;
}

// The threads that wait for each other, from `first` on; empty: no other one waits for it.
std::vector<LockAccount::ThreadId> LockAccount::circle_of(ThreadId first) {
  std::array<ThreadId, 16> circle{};
  ThreadId at = first;
  for (std::size_t count = 0; count < circle.size();) {
    circle[count++] = at;
    const std::uint32_t wanted = file_->thread(at).wanted.load(std::memory_order_relaxed);
    const std::uint32_t owner =
        wanted == 0 ? 0 : file_->wanted(wanted - 1).owner.load(std::memory_order_relaxed);
    if (owner == 0) break;
    at = owner - 1;
    // A lock that its own thread waits for may be a signal of another thread.
    const auto threads = std::span(circle).first(count);
    if (at == first && count > 1) return {threads.begin(), threads.end()};
    if (std::ranges::find(threads, at) != threads.end()) break;
  }
  return {};
}

// REQUIRES: the thread still waits. Where others wait for a lock of its own meanwhile, and it for
// theirs, nobody but itself can end this: it gives up.
// Without memory the circle is not noted, and the wait ends all the same.
void LockAccount::note_circle(ThreadId first, std::uint64_t now) noexcept try {
  const std::vector<ThreadId> circle = circle_of(first);
  if (circle.empty()) return;
  std::vector<std::uint32_t> key;
  std::uint64_t closed = 0;
  for (const ThreadId thread : circle) {
    const spool::LockThread& waiter = file_->thread(thread);
    const spool::LockWanted& lock = file_->wanted(waiter.wanted - 1);
    closed = std::max<std::uint64_t>(closed, waiter.since);
    for (const spool::LockPlace& place : {waiter.place, lock.place})
      key.insert(key.end(), {place.file, place.function, place.line});
    key.push_back(lock.site);
  }
  auto known = circles_.find(key);
  if (known == circles_.end()) {
    const std::uint32_t added = add_circle(circle);
    if (added == kNone) return;  // the table is full
    known = circles_.emplace(std::move(key), added).first;
  }
  for (std::uint32_t i = 0; i < circle.size(); ++i) {
    raise_to(file_->circle(known->second + i).closed, since(closed, now));
  }
} catch (const std::bad_alloc&) {
  return;
}

std::uint32_t LockAccount::add_circle(const std::vector<ThreadId>& circle) noexcept {
  const std::uint32_t first = file_->add(spool::kLockCircles, circle.size());
  for (std::uint32_t i = 0; first != kNone && i < circle.size(); ++i) {
    const spool::LockThread& waiter = file_->thread(circle[i]);
    const spool::LockWanted& lock = file_->wanted(waiter.wanted - 1);
    spool::LockCircle& entry = file_->circle(first + i);
    entry.circle = first;
    entry.thread = circle[i];
    entry.place = waiter.place;
    entry.site = lock.site;
    entry.taken_at = lock.place;
  }
  return first;
}

void LockAccount::wait_ends(Lock& lock, const Waiting& waiting, std::uint64_t now) {
  if (waiting.thread != kNone) note_circle(waiting.thread, now);
  file_->header().last.store(now, std::memory_order_relaxed);
  account_for_waiters(lock, now);
  if (waiting.thread != kNone) {
    spool::LockThread& entry = file_->thread(waiting.thread);
    entry.wanted.store(waiting.outer_wanted, std::memory_order_relaxed);
    entry.place = waiting.outer_place;
    entry.since = waiting.outer_since;
  }
  if (--lock.waiters == 0 && lock.wanted != kNone) {
    unwanted_.push_back(std::exchange(lock.wanted, kNone));
  }
  if (lock.site == kNone || waiting.thread == kNone) return;
  const auto [known, is_new] =
      waits_.try_emplace(std::tuple(lock.site, waiting.thread, waiting.place), kNone);
  if (is_new && waiting.place != kNone) {
    known->second = file_->add(spool::kLockWaits);
    if (known->second != kNone) {
      spool::LockWait& made = file_->wait(known->second);
      made.site = lock.site;
      made.thread = waiting.thread;
      made.place = places_[waiting.place];
    }
  }
  if (known->second == kNone) return;
  spool::LockWait& wait = file_->wait(known->second);
  const std::uint64_t waited = since(waiting.since, now);
  add_to(wait.waits, 1);
  add_to(wait.waited, waited);
  raise_to(wait.longest, waited);
}

}  // namespace timeloom::record
