#include "preload/openmp/ompt_events.hpp"

#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "os/clock.hpp"
#include "preload/openmp/ompt_callers.hpp"
#include "preload/openmp/ompt_constructs.hpp"
#include "preload/openmp/ompt_runtimes.hpp"
#include "preload/openmp/ompt_thread.hpp"
#include "preload/openmp/team_metrics.hpp"
#include "record/created_threads.hpp"
#include "record/measurement.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::ompt {

constinit thread_local const void* t_passed_on_for [[gnu::tls_model("initial-exec")]] = nullptr;

using record::WrappedFunction;
using record::WrapperScope;

// Of a fork, until the runtime tells its end.
struct Team {
  std::uint64_t number;
  std::uint32_t measurement;
  WrappedFunction* region;
  const void* code;
  std::shared_ptr<std::atomic<std::uint64_t>> end;  // of the last barrier; 0: not yet
  record::CallPath path;                            // at which it is forked, in a profile
  openmp::TeamMetrics metrics;
  std::uint64_t forked_ns;  // see openmp::clock_ns()
  // For ForkedTeams, as they were before.
  Team* outer = nullptr;
  std::size_t unrecorded = 0;
};

void ForkedTeams::push(Team* team) noexcept {
  if (team == nullptr) {
    ++unrecorded_;
    return;
  }
  team->outer = std::exchange(innermost_, team);
  team->unrecorded = std::exchange(unrecorded_, 0);
}

Team* ForkedTeams::pop() noexcept {
  if (unrecorded_ != 0) {
    --unrecorded_;
    return nullptr;
  }
  Team* const team = innermost_;
  if (team == nullptr) return nullptr;
  innermost_ = team->outer;
  unrecorded_ = team->unrecorded;
  return team;
}

namespace {

// Of the runtime's objects, by their words for the tool. Nothing of a runtime is needed after the
// end of its object, but the members of a team end when they like.
struct Task {
  std::uint64_t number;
  const void* told;  // the address of its creation as the runtime tells it
  const void* code;  // ... and in the program
  bool has_begun = false;
};

template <typename Object>
Object* object_of(const Data* data) noexcept {
  return data == nullptr ? nullptr : static_cast<Object*>(data->ptr);
}

const void* code_of_program(const void* code) noexcept {
  return code != nullptr && record::is_own_code(code) ? t_passed_on_for : code;
}

// LLVM's runtime tells no end of a single construct of GCC's code.
void end_work_before(ThreadState& state, Open kind, Construct construct) noexcept {
  const bool barrier = construct == Construct::kBarrier || construct == Construct::kImplicitBarrier;
  if (!barrier && !is_shared_work(kind, construct)) return;
  const Entry* const entry = state.shared_work();
  if (entry != nullptr) state.end(entry);
}

// Enters the region of a construct, in which later events of the thread lie.
void begin_construct(Open kind, Construct construct, const void* code) noexcept {
  ThreadState* const state = ThreadState::of_this_thread();
  if (state == nullptr) return;
  end_work_before(*state, kind, construct);
  const void* const place = code_of_program(code);
  Entry entry{.kind = kind, .construct = construct, .code = place};
  WrappedFunction* const region = record::wrapping() ? region_at(construct, place) : nullptr;
  if (region != nullptr) {
    WrapperScope scope(nullptr);
    if (scope.wanted()) {
      scope.enter(*region);
      entry.region = region;
      entry.measurement = record::measurement_number();
    }
  }
  state->push(entry);
}

void end_construct(Open kind, Construct construct) noexcept {
  ThreadState* const state = ThreadState::of_this_thread();
  const Entry* const entry = state == nullptr ? nullptr : state->find(kind, construct);
  if (entry != nullptr) state->end(entry);
}

void construct_event(Open kind, Construct construct, Endpoint endpoint, const void* code) noexcept {
  if (endpoint != Endpoint::kEnd) begin_construct(kind, construct, code);
  if (endpoint != Endpoint::kBegin) end_construct(kind, construct);
}

void on_thread_begin(Thread type, Data*) noexcept {
  if (type != Thread::kWorker || !record::wrapping() || record::thread_takes_part()) return;
  name_this_thread(__builtin_return_address(0));
}

void on_thread_end(Data*) noexcept { ThreadState::forget_this_thread(); }

// nullptr: there is no memory.
Team* make_team(WrappedFunction* region, const void* code, const openmp::TeamMetrics& metrics,
                const WrapperScope& scope) noexcept try {
  return new Team{record::next_creation_number(),
                  record::measurement_number(),
                  region,
                  code,
                  std::make_shared<std::atomic<std::uint64_t>>(0),
                  scope.call_path(),
                  metrics,
                  openmp::clock_ns()};
} catch (const std::bad_alloc&) {
  return nullptr;
}

// nullptr: it is not recorded.
Team* fork_team(ThreadState& state, unsigned threads, const void* code) noexcept {
  if (!record::wrapping()) return nullptr;
  const void* const place = code_of_program(code);
  WrappedFunction* const region = region_at(Construct::kParallel, place);
  if (region == nullptr) return nullptr;
  const openmp::TeamMetrics metrics = openmp::team_metrics();
  WrapperScope scope(nullptr);
  Team* const team = scope.wanted() ? make_team(region, place, metrics, scope) : nullptr;
  if (team == nullptr) return nullptr;
  scope.enter(*region);
  scope.put(ExtendedKind::kTeamFork, {team->number, threads});
  state.push({.kind = Open::kTeam,
              .measurement = team->measurement,
              .region = region,
              .number = team->number});
  return team;
}

void on_parallel_begin(Data*, const Frame*, Data* parallel, unsigned threads, int,
                       const void* code) noexcept {
  ThreadState* const state = ThreadState::of_this_thread();
  Team* const team = state == nullptr ? nullptr : fork_team(*state, threads, code);
  if (state != nullptr) state->forked().push(team);
  parallel->ptr = team;
}

// LLVM's runtime has given the team's memory back: its word for the tool may belong to a team that
// another thread has made meanwhile.
void on_parallel_end(Data*, Data*, int, const void*) noexcept {
  ThreadState* const state = ThreadState::of_this_thread();
  const Team* const team = state == nullptr ? nullptr : state->forked().pop();
  if (team == nullptr) return;
  team->end->store(os::now(), std::memory_order_release);
  if (const Entry* const entry = state->find(Open::kTeam, team->number)) {
    WrapperScope(record::kAgain, team->measurement).put(ExtendedKind::kTeamJoin, {team->number});
    state->end(entry);
  }
  delete team;
}

// The thread that has made the team has entered its region already.
void begin_member(ThreadState& state, const Team& team, unsigned index, unsigned size) noexcept {
  const Entry* const top = state.top();
  const bool made_it = top != nullptr && top->kind == Open::kTeam && top->number == team.number;
  Entry entry{.kind = Open::kMember, .number = team.number, .code = team.code};
  WrapperScope scope(nullptr);
  if (scope.wanted() && team.measurement == record::measurement_number()) {
    scope.put(ExtendedKind::kTeamBegin, {team.number, index});
    if (made_it) {
      openmp::put_metric(scope, team.metrics.fork, openmp::clock_ns() - team.forked_ns);
      openmp::put_metric(scope, team.metrics.size, size);
    } else {
      scope.begin_below(team.path);
      scope.enter(*team.region);
    }
    entry.region = made_it ? nullptr : team.region;
    entry.measurement = team.measurement;
  }
  state.push(entry);
}

void end_member(ThreadState& state) noexcept {
  if (const Entry* const barrier = state.find(Open::kSync, Construct::kImplicitBarrier)) {
    if (barrier->late) state.settle(barrier);
  }
  const Entry* const member = state.member();
  if (member == nullptr) return;
  const std::uint64_t number = member->number;
  const bool recorded = member->measurement != 0;
  state.end(member, [&](WrapperScope& scope) {
    if (recorded) scope.put(ExtendedKind::kTeamEnd, {number});
  });
}

void on_implicit_task(Endpoint endpoint, Data* parallel, Data*, unsigned size, unsigned index,
                      int flags) noexcept {
  ThreadState* const state = ThreadState::of_this_thread();
  if (state == nullptr || (flags & kTaskInitial) != 0) return;
  if (endpoint == Endpoint::kEnd) return end_member(*state);
  const Team* const team = object_of<Team>(parallel);
  if (team == nullptr) return state->push({.kind = Open::kMember});
  begin_member(*state, *team, index, size);
}

std::optional<Construct> construct_of(Work work) noexcept {
  switch (work) {
    case Work::kLoop:
    case Work::kLoopStatic:
    case Work::kLoopDynamic:
    case Work::kLoopGuided:
    case Work::kLoopOther: return Construct::kFor;
    case Work::kSections: return Construct::kSections;
    case Work::kSingleExecutor: return Construct::kSingle;
    case Work::kWorkshare: return Construct::kWorkshare;
    case Work::kDistribute: return Construct::kDistribute;
    case Work::kTaskloop: return Construct::kTaskloop;
    case Work::kScope: return Construct::kScope;
    case Work::kSingleOther: break;  // the threads that do not run its body
  }
  return std::nullopt;
}

void on_work(Work work, Endpoint endpoint, Data*, Data*, std::uint64_t, const void* code) noexcept {
  const auto construct = construct_of(work);
  if (!construct) return;
  if (work == Work::kTaskloop && endpoint != Endpoint::kEnd && record::wrapping()) {
    code = caller_of_entry_point(code);
  }
  construct_event(Open::kWork, *construct, endpoint, code);
}

void on_masked(Endpoint endpoint, Data*, Data*, const void* code) noexcept {
  construct_event(Open::kMasked, Construct::kMasked, endpoint, code);
}

std::optional<Construct> construct_of(Sync sync) noexcept {
  switch (sync) {
    case Sync::kBarrier:
    case Sync::kBarrierExplicit: return Construct::kBarrier;
    case Sync::kBarrierImplicit:
    case Sync::kBarrierImplementation:
    case Sync::kBarrierImplicitWorkshare:
    case Sync::kBarrierImplicitParallel:
    case Sync::kBarrierTeams: return Construct::kImplicitBarrier;
    case Sync::kTaskwait: return Construct::kTaskwait;
    case Sync::kTaskgroup: return Construct::kTaskgroup;
    case Sync::kReduction: break;
  }
  return std::nullopt;
}

// The barrier at the end of a team is one region on all its threads; only one of them knows an
// address.
const void* code_of_barrier(const ThreadState& state, Sync sync, const void* code) noexcept {
  const Entry* const member = state.member();
  const bool of_team = code == nullptr || sync == Sync::kBarrierImplicitParallel;
  return of_team && member != nullptr ? member->code : code;
}

// Version 14 of LLVM's runtime has no kind of its own for it, and tells no address to the threads
// that have not made the team.
bool is_last_of_team(Sync sync, const void* code) noexcept {
  return sync == Sync::kBarrierImplicitParallel ||
         (sync == Sync::kBarrierImplicit && code == nullptr);
}

void on_sync_region(Sync sync, Endpoint endpoint, Data* parallel, Data*,
                    const void* code) noexcept {
  const auto construct = construct_of(sync);
  ThreadState* const state = ThreadState::of_this_thread();
  if (!construct || state == nullptr) return;
  const bool of_team = is_last_of_team(sync, code);
  if (endpoint != Endpoint::kEnd && record::wrapping()) code = caller_of_entry_point(code);
  if (*construct == Construct::kImplicitBarrier) code = code_of_barrier(*state, sync, code);
  if (endpoint != Endpoint::kEnd) begin_construct(Open::kSync, *construct, code);
  if (endpoint == Endpoint::kBegin) {
    const Team* const team = object_of<Team>(parallel);
    if (of_team && team != nullptr) state->end_late(team->end);
    return;
  }
  const Entry* const entry = state->find(Open::kSync, *construct);
  if (entry == nullptr) return;
  entry->late ? state->settle(entry) : state->end(entry);
}

std::optional<Construct> construct_of(Mutex mutex) noexcept {
  switch (mutex) {
    case Mutex::kLock: return Construct::kLock;
    case Mutex::kTestLock: return Construct::kTestLock;
    case Mutex::kNestLock: return Construct::kNestLock;
    case Mutex::kTestNestLock: return Construct::kTestNestLock;
    case Mutex::kCritical: return Construct::kCritical;
    case Mutex::kAtomic: return Construct::kAtomic;
    case Mutex::kOrdered: return Construct::kOrdered;
  }
  return std::nullopt;
}

// Locks need not be nested as blocks are: their regions are the calls that take them.
bool is_lock(Mutex mutex) noexcept { return mutex == Mutex::kLock || mutex == Mutex::kNestLock; }
bool is_test(Mutex mutex) noexcept {
  return mutex == Mutex::kTestLock || mutex == Mutex::kTestNestLock;
}

// The end of a test that fails is not told.
void on_mutex_acquire(Mutex mutex, unsigned, unsigned, std::uint64_t, const void* code) noexcept {
  const auto construct = construct_of(mutex);
  if (construct && !is_test(mutex)) begin_construct(Open::kMutex, *construct, code);
}

// The region of the block itself begins when the wait has ended; it ends with the region around it.
void begin_block(Mutex mutex, const void* code) noexcept {
  if (mutex == Mutex::kCritical) begin_construct(Open::kMutex, Construct::kCriticalBlock, code);
  if (mutex == Mutex::kOrdered) begin_construct(Open::kMutex, Construct::kOrderedBlock, code);
}

void on_mutex_acquired(Mutex mutex, std::uint64_t, const void* code) noexcept {
  const auto construct = construct_of(mutex);
  if (!construct) return;
  begin_block(mutex, code);
  if (is_test(mutex)) construct_event(Open::kMutex, *construct, Endpoint::kBeginEnd, code);
  if (is_lock(mutex)) end_construct(Open::kMutex, *construct);
}

void on_mutex_released(Mutex mutex, std::uint64_t, const void*) noexcept {
  const auto construct = construct_of(mutex);
  if (construct && !is_lock(mutex) && !is_test(mutex)) end_construct(Open::kMutex, *construct);
}

// Its owner has taken a lock once more.
void on_nest_lock(Endpoint endpoint, std::uint64_t, const void*) noexcept {
  if (endpoint == Endpoint::kBegin) end_construct(Open::kMutex, Construct::kNestLock);
}

// The tasks of a task loop belong to it, also those that one of them creates for parts of its part.
const void* code_of_task(const void* told) noexcept {
  const ThreadState* const state = ThreadState::of_this_thread();
  if (state == nullptr) return code_of_program(told);
  const Entry* const loop = state->find(Open::kWork, Construct::kTaskloop);
  if (loop != nullptr) return loop->code;
  const Entry* const task = state->running();
  return task != nullptr && task->told == told ? task->code : code_of_program(told);
}

void on_task_create(Data*, const Frame*, Data* new_task, int flags, int,
                    const void* code) noexcept {
  if ((flags & kTaskExplicit) == 0 || new_task == nullptr) return;
  new_task->ptr = nullptr;
  if ((flags & kTaskTaskwait) != 0 || !record::wrapping()) return;
  const void* const place = code_of_task(code);
  WrappedFunction* const region = region_at(Construct::kCreateTask, place);
  if (region == nullptr) return;
  WrapperScope scope(nullptr);
  auto* const task = scope.wanted() ? new (std::nothrow) Task{} : nullptr;
  if (task == nullptr) return;
  *task = {record::next_creation_number(), code, place};
  scope.enter(*region);
  scope.put(ExtendedKind::kTaskCreate, {task->number});
  scope.leave(*region);
  new_task->ptr = task;
}

bool ends_task(TaskStatus status) noexcept {
  return status == TaskStatus::kComplete || status == TaskStatus::kCancel ||
         status == TaskStatus::kDetach;
}

void end_task(ThreadState& state, const Task& task) noexcept {
  const auto put = [&](WrapperScope& scope) {
    scope.put(ExtendedKind::kTaskComplete, {task.number});
  };
  const Entry* const entry = state.find(Open::kTask, task.number);
  if (entry != nullptr) state.end(entry, put);
}

// A task that is not tied to a thread may go on, here or elsewhere, after it has left its thread:
// these parts do not count as visits of it.
void begin_task(ThreadState& state, Task& task) noexcept {
  Entry entry{.kind = Open::kTask, .number = task.number, .code = task.code, .told = task.told};
  const Construct part = task.has_begun ? Construct::kResumedTask : Construct::kTask;
  WrappedFunction* const region = record::wrapping() ? region_at(part, task.code) : nullptr;
  task.has_begun = true;
  if (region != nullptr) {
    WrapperScope scope(nullptr);
    if (scope.wanted()) {
      scope.put(ExtendedKind::kTaskSwitch, {task.number});
      scope.enter(*region);
      entry.region = region;
      entry.measurement = record::measurement_number();
    }
  }
  state.push(entry);
}

// A task that waits runs others inside itself. One that is not tied to its thread goes on
// elsewhere: then the thread goes back to the task around it.
void on_task_schedule(Data* prior_data, TaskStatus status, Data* next_data) noexcept {
  if (status == TaskStatus::kEarlyFulfill || status == TaskStatus::kLateFulfill ||
      status == TaskStatus::kTaskwaitComplete) {
    return;
  }
  ThreadState* const state = ThreadState::of_this_thread();
  if (state == nullptr) return;
  const Task* const prior = object_of<Task>(prior_data);
  Task* const next = object_of<Task>(next_data);
  const Entry* const open = next == nullptr ? nullptr : state->find(Open::kTask, next->number);
  if (prior != nullptr && ends_task(status)) {
    end_task(*state, *prior);
    delete prior;
    prior_data->ptr = nullptr;
  } else if (prior != nullptr && (next == nullptr || open != nullptr)) {
    const Entry* const entry = state->find(Open::kTask, prior->number);
    if (entry != nullptr && entry != open) state->end(entry);
  }
  if (next != nullptr && open == nullptr) return begin_task(*state, *next);
  const bool recorded = prior != nullptr && record::wrapping();
  if (recorded) {
    WrapperScope(record::kAgain).put(ExtendedKind::kTaskSwitch, {state->running_task()});
  }
}

}  // namespace

void register_events(SetCallback* set) noexcept {
  const auto wants = [&](Event event, auto* callback) {
    (void)set(event, reinterpret_cast<Callback*>(callback));
  };
  wants(Event::kThreadBegin, static_cast<ThreadBegin*>(on_thread_begin));
  wants(Event::kThreadEnd, static_cast<ThreadEnd*>(on_thread_end));
  wants(Event::kParallelBegin, static_cast<ParallelBegin*>(on_parallel_begin));
  wants(Event::kParallelEnd, static_cast<ParallelEnd*>(on_parallel_end));
  wants(Event::kTaskCreate, static_cast<TaskCreate*>(on_task_create));
  wants(Event::kTaskSchedule, static_cast<TaskSchedule*>(on_task_schedule));
  wants(Event::kImplicitTask, static_cast<ImplicitTask*>(on_implicit_task));
  wants(Event::kWork, static_cast<WorkEvent*>(on_work));
  wants(Event::kMasked, static_cast<Masked*>(on_masked));
  wants(Event::kSyncRegion, static_cast<SyncRegion*>(on_sync_region));
  wants(Event::kMutexAcquire, static_cast<MutexAcquire*>(on_mutex_acquire));
  wants(Event::kMutexAcquired, static_cast<MutexEvent*>(on_mutex_acquired));
  wants(Event::kMutexReleased, static_cast<MutexEvent*>(on_mutex_released));
  wants(Event::kNestLock, static_cast<NestLock*>(on_nest_lock));
}

}  // namespace timeloom::ompt
