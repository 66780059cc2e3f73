// The teams, tasks and constructs that are open on a thread, as OMPT reports them, the innermost
// one last. It enters and leaves their regions.
//
// Each thread has its own. Runtimes differ in the order of their events and leave some out, so the
// end of one of these also ends all that are open inside it. Nothing throws.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "preload/openmp/ompt_constructs.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::ompt {

// The kinds of entries. The entry that an end belongs to is looked for inside the innermost member
// or task only.
enum class Open : std::uint8_t { kTeam, kMember, kTask, kWork, kMasked, kSync, kMutex };

// Whether the construct shares work among a team: then no barrier and no other such construct of
// the team lies inside.
constexpr bool is_shared_work(Open kind, Construct construct) noexcept {
  return kind == Open::kWork && construct != Construct::kTaskloop && construct != Construct::kScope;
}

struct Entry {
  Open kind{};
  Construct construct{};
  std::uint32_t measurement = 0;              // in which it was recorded; 0: it was not
  record::WrappedFunction* region = nullptr;  // nullptr: there is none to leave
  std::uint64_t number = 0;                   // of the team or task
  const void* code = nullptr;                 // its place; of a member: where its team was made
  const void* told = nullptr;                 // of a task: the same as the runtime tells it
  bool late = false;                          // of a barrier: see end_late()
};

struct Team;  // as it is recorded

// The teams that a thread has forked and that have not ended: their ends come from the inside out.
class ForkedTeams {
 public:
  // nullptr: it is not recorded.
  void push(Team* team) noexcept;
  // The innermost one; nullptr: it is not recorded, or there is none.
  Team* pop() noexcept;

 private:
  Team* innermost_ = nullptr;
  std::size_t unrecorded_ = 0;  // inside of it
};

class ThreadState {
 public:
  // nullptr: there is no memory.
  static ThreadState* of_this_thread() noexcept;
  // At the end of the thread.
  static void forget_this_thread() noexcept;

  ForkedTeams& forked() noexcept { return forked_; }

  // Entries beyond the room are counted, and not kept.
  void push(const Entry& entry) noexcept;
  // nullptr: nothing is open, or the innermost entry was not kept.
  const Entry* top() const noexcept;
  // The innermost team that the thread is a member of; nullptr: none.
  const Entry* member() const noexcept;
  // The explicit task that runs; nullptr: the implicit one.
  const Entry* running() const noexcept;
  // Its number; 0: the implicit one.
  std::uint64_t running_task() const noexcept {
    const Entry* const task = running();
    return task == nullptr ? 0 : task->number;
  }
  // The innermost team or task of that number. nullptr: it is not open here.
  const Entry* find(Open kind, std::uint64_t number) const noexcept;
  // The innermost open construct of the present member or task. nullptr: there is none.
  const Entry* find(Open kind, Construct construct) const noexcept;
  // The innermost work that is shared by the present team. nullptr: there is none.
  const Entry* shared_work() const noexcept;

  // Ends the entry and all entries inside it: leaves their regions, then calls `put(scope)`, and
  // forgets them.
  template <typename Put>
  void end(const Entry* entry, Put put) noexcept {
    record::WrapperScope scope(record::kAgain, entry->measurement);
    leave_regions(entry, scope);
    put(scope);
    forget(entry);
  }
  void end(const Entry* entry) noexcept {
    end(entry, [](record::WrapperScope&) {});
  }

  // The innermost entry is the last barrier of the present team, whose end another thread notes in
  // `time`: the runtime may tell this thread much later, when it is needed again or the program
  // ends. Does nothing for the thread that has made the team.
  void end_late(std::shared_ptr<const std::atomic<std::uint64_t>> time) noexcept;
  // Called when the runtime has reported the end of such a barrier: the thread has left the team,
  // too.
  void settle(const Entry* barrier) noexcept;

 private:
  static constexpr std::size_t kRoom = 64;

  const Entry* kept_end() const noexcept { return entries_ + (count_ < kRoom ? count_ : kRoom); }
  void leave_regions(const Entry* from, record::WrapperScope& scope) const noexcept;
  void forget(const Entry* from) noexcept;

  ForkedTeams forked_;
  Entry entries_[kRoom];
  std::size_t count_ = 0;
};

}  // namespace timeloom::ompt
