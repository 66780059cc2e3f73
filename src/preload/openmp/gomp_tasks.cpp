// The wrappers of functions that create explicit tasks, whose creation and run are recorded.
//
// The runtime copies the data of a task when it is created, by a function of the program or as
// plain memory, and gives the copy to the task's function, perhaps on another thread. It is given a
// larger block, with a head of ours before the program's data, and functions that take the two
// apart.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "preload/common/next_function.hpp"
#include "preload/openmp/constructs.hpp"
#include "record/created_threads.hpp"
#include "record/measurement.hpp"

namespace timeloom::openmp {
namespace {

using record::WrapperScope;

using CopyFunction = void(void* to, void* from);

// Words at the start of a task's data that the runtime reads and writes itself: the bounds of a
// part of a task loop, or the handle of a task that is detached; the reductions of a task loop.
struct RuntimeWords {
  std::uint64_t bounds[2] = {};
  void* reductions = nullptr;
};

struct TaskPlan {
  Function* function;
  void* data;
  CopyFunction* copy;  // nullptr: as plain memory
  long bytes;
  long alignment;
  bool loop = false;  // the tasks are parts of a loop
  bool detached = false;
};

// Before the program's data, at whose alignment it ends.
struct TaskHead {
  RuntimeWords words;
  Function* function;
  Runtime* runtime;
  std::uint64_t number;
  std::uint32_t measurement;
  std::uint32_t offset;  // of the program's data
  bool loop;
};

// What the runtime copies from.
struct TaskSource {
  RuntimeWords words;
  const TaskPlan& plan;
  Runtime* runtime;
};

long alignment_of(const TaskPlan& plan) noexcept {
  return std::max(plan.alignment, static_cast<long>(alignof(TaskHead)));
}

long rounded(long bytes, const TaskPlan& plan) noexcept {
  const long alignment = alignment_of(plan);
  return (bytes + alignment - 1) / alignment * alignment;
}

long offset_of(const TaskPlan& plan) noexcept {
  return rounded(static_cast<long>(sizeof(TaskHead)), plan);
}

// Of the head and the data: the runtime lays blocks end to end.
long bytes_of(const TaskPlan& plan) noexcept { return rounded(offset_of(plan) + plan.bytes, plan); }

void copy_data(void* to, const TaskPlan& plan) {
  if (plan.copy != nullptr) {
    plan.copy(to, plan.data);
  } else if (plan.bytes > 0) {
    std::memcpy(to, plan.data, static_cast<std::size_t>(plan.bytes));
  }
}

void note_creation_of(const TaskHead& head) noexcept {
  WrapperScope(record::kAgain, head.measurement).put(ExtendedKind::kTaskCreate, {head.number});
}

// The task runs on this thread, between these two.
EventWord begin_task(const TaskHead& head) noexcept {
  const void* const code = reinterpret_cast<const void*>(head.function);
  if (head.measurement != record::measurement_number()) return 0;
  WrapperScope scope(code);
  if (!scope.wanted()) return 0;
  const EventWord region = region_of(place_of(code), Construct::kTask);
  scope.put(ExtendedKind::kTaskSwitch, {head.number});
  if (region != 0) scope.enter(region);
  return region;
}
void end_task(const TaskHead& head, EventWord region, std::uint64_t outer) noexcept {
  if (region == 0) return;
  WrapperScope scope(record::kAgain);
  scope.leave(region);
  if (head.measurement != record::measurement_number()) return;
  scope.put(ExtendedKind::kTaskComplete, {head.number});
  scope.put(ExtendedKind::kTaskSwitch, {outer});
}

// The runtime calls it once for each task that it creates, on the thread that creates it.
void copy_task(void* to, void* from) {
  const TaskSource& source = *static_cast<const TaskSource*>(from);
  const TaskPlan& plan = source.plan;
  auto* const head = new (to) TaskHead{source.words,
                                       plan.function,
                                       source.runtime,
                                       record::next_creation_number(),
                                       record::measurement_number(),
                                       static_cast<std::uint32_t>(offset_of(plan)),
                                       plan.loop};
  note_creation_of(*head);
  if (plan.detached) std::memcpy(plan.data, source.words.bounds, sizeof(void*));
  copy_data(static_cast<char*>(to) + head->offset, plan);
}

void run_task(void* block) {
  const TaskHead& head = *static_cast<const TaskHead*>(block);
  ThreadState& state = t_state;
  Runtime* const runtime = std::exchange(state.runtime, head.runtime);
  const void* const code = reinterpret_cast<const void*>(head.function);
  const void* const outer_code = std::exchange(state.function, code);
  const std::uint64_t outer = std::exchange(state.task, head.number);
  const std::size_t depth = state.depth;
  void* const data = static_cast<char*>(block) + head.offset;
  if (head.loop) std::memcpy(data, head.words.bounds, sizeof head.words.bounds);
  const EventWord region = begin_task(head);
  head.function(data);
  close_open(depth);
  end_task(head, region, outer);
  state.runtime = runtime;
  state.function = outer_code;
  state.task = outer;
}

// Creates tasks by `call(runtime, plan)`, in the region of the call. The plan has what the runtime
// is to use.
template <typename Call>
void create(Construct kind, const TaskPlan& plan, const void* caller, Call call) {
  struct Left {
    EventWord region;
    ~Left() { leave_region(region); }
  };
  GompCall creation(caller);
  const Place& place = place_of(reinterpret_cast<const void*>(plan.function));
  Runtime& runtime = place.runtime != nullptr ? *place.runtime : *creation.runtime();
  const Left left{runtime.unrecorded ? 0 : creation.enter(kind)};
  if (left.region == 0) return call(runtime, plan);
  TaskSource source{{}, plan, &runtime};
  if (plan.loop) {
    const auto bytes = static_cast<std::size_t>(plan.bytes);
    std::memcpy(&source.words, plan.data, std::min(sizeof source.words, bytes));
  }
  call(runtime, TaskPlan{&run_task, &source, &copy_task, bytes_of(plan), alignment_of(plan)});
}

// As GCC's include/gomp-constants.h numbers the flags of a task.
constexpr unsigned kDetached = 1u << 13;

template <typename... Words>
void create_loop(Gomp which, const TaskPlan& plan, const void* caller, Words... words) {
  create(Construct::kTaskloop, plan, caller, [&](const Runtime& runtime, const TaskPlan& use) {
    using Signature = void(Function*, void*, CopyFunction*, long, long, Words...);
    runtime.function<Signature>(which)(use.function, use.data, use.copy, use.bytes, use.alignment,
                                       words...);
  });
}

}  // namespace
}  // namespace timeloom::openmp

using namespace timeloom::openmp;

TIMELOOM_WRAPPER(void, GOMP_task, Function* function, void* data, CopyFunction* copy, long bytes,
                 long alignment, bool deferred, unsigned flags, void** depend, int priority,
                 void* detach) {
  TaskPlan plan{function, data, copy, bytes, alignment};
  plan.detached = (flags & kDetached) != 0;
  create(Construct::kCreateTask, plan, CALLER, [=](const Runtime& runtime, const TaskPlan& use) {
    using Signature =
        void(Function*, void*, CopyFunction*, long, long, bool, unsigned, void**, int, void*);
    runtime.function<Signature>(Gomp::k_task)(use.function, use.data, use.copy, use.bytes,
                                              use.alignment, deferred, flags, depend, priority,
                                              detach);
  });
}

TIMELOOM_WRAPPER(void, GOMP_taskloop, Function* function, void* data, CopyFunction* copy,
                 long bytes, long alignment, unsigned flags, unsigned long tasks, int priority,
                 long start, long end, long step) {
  create_loop(Gomp::k_taskloop, {function, data, copy, bytes, alignment, true}, CALLER, flags,
              tasks, priority, start, end, step);
}

TIMELOOM_WRAPPER(void, GOMP_taskloop_ull, Function* function, void* data, CopyFunction* copy,
                 long bytes, long alignment, unsigned flags, unsigned long tasks, int priority,
                 unsigned long long start, unsigned long long end, unsigned long long step) {
  create_loop(Gomp::k_taskloop_ull, {function, data, copy, bytes, alignment, true}, CALLER, flags,
              tasks, priority, start, end, step);
}
