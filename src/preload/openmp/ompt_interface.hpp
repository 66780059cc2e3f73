// OMPT, the interface of OpenMP 5 for tools (chapter 4 of the standard, "OMPT Interface"): the part
// that is used here. Declared here, so that no runtime of OpenMP is needed for the build;
// scripts/check/check_ompt.py compares it with the headers of runtimes.
#pragma once

#include <cstdint>

namespace timeloom::ompt {

// A word that belongs to the tool, in the runtime's object.
union Data {
  std::uint64_t value;
  void* ptr;
};

struct Frame;  // of a task; not read

enum class Event : int {
  kThreadBegin = 1,
  kThreadEnd = 2,
  kParallelBegin = 3,
  kParallelEnd = 4,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kMutexReleased = 17,
  kWork = 20,
  kMasked = 21,
  kSyncRegion = 23,
  kMutexAcquire = 26,
  kMutexAcquired = 27,
  kNestLock = 28
};

enum class Thread : int { kInitial = 1, kWorker = 2, kOther = 3, kUnknown = 4 };
enum class Endpoint : int { kBegin = 1, kEnd = 2, kBeginEnd = 3 };

enum class Sync : int {
  kBarrier = 1,
  kBarrierImplicit = 2,
  kBarrierExplicit = 3,
  kBarrierImplementation = 4,
  kTaskwait = 5,
  kTaskgroup = 6,
  kReduction = 7,
  kBarrierImplicitWorkshare = 8,
  kBarrierImplicitParallel = 9,
  kBarrierTeams = 10
};

enum class Work : int {
  kLoop = 1,
  kSections = 2,
  kSingleExecutor = 3,
  kSingleOther = 4,
  kWorkshare = 5,
  kDistribute = 6,
  kTaskloop = 7,
  kScope = 8,
  kLoopStatic = 10,  // these four since OpenMP 5.2 (as LLVM numbers them)
  kLoopDynamic = 11,
  kLoopGuided = 12,
  kLoopOther = 13
};

enum class Mutex : int {
  kLock = 1,
  kTestLock = 2,
  kNestLock = 3,
  kTestNestLock = 4,
  kCritical = 5,
  kAtomic = 6,
  kOrdered = 7
};

// The state of the task that its thread stops to run.
enum class TaskStatus : int {
  kComplete = 1,
  kYield = 2,
  kCancel = 3,
  kDetach = 4,
  kEarlyFulfill = 5,
  kLateFulfill = 6,
  kSwitch = 7,
  kTaskwaitComplete = 8
};

// Flags of tasks.
inline constexpr int kTaskInitial = 0x1;
inline constexpr int kTaskExplicit = 0x4;
inline constexpr int kTaskTaskwait = 0x10;  // of a taskwait with dependences; runs nothing

using Callback = void();
using ThreadBegin = void(Thread, Data* thread);
using ThreadEnd = void(Data* thread);
using ParallelBegin = void(Data* encountering_task, const Frame*, Data* parallel,
                           unsigned requested_threads, int flags, const void* code);
using ParallelEnd = void(Data* parallel, Data* encountering_task, int flags, const void* code);
using TaskCreate = void(Data* encountering_task, const Frame*, Data* new_task, int flags,
                        int has_dependences, const void* code);
using TaskSchedule = void(Data* prior_task, TaskStatus, Data* next_task);
using ImplicitTask = void(Endpoint, Data* parallel, Data* task, unsigned threads, unsigned index,
                          int flags);
using WorkEvent = void(Work, Endpoint, Data* parallel, Data* task, std::uint64_t count,
                       const void* code);
using Masked = void(Endpoint, Data* parallel, Data* task, const void* code);
using SyncRegion = void(Sync, Endpoint, Data* parallel, Data* task, const void* code);
using MutexAcquire = void(Mutex, unsigned hint, unsigned implementation, std::uint64_t wait_id,
                          const void* code);
using MutexEvent = void(Mutex, std::uint64_t wait_id, const void* code);
using NestLock = void(Endpoint, std::uint64_t wait_id, const void* code);

// Entry points of the runtime, found by their names.
using Lookup = Callback*(const char* name);
using SetCallback = int(Event, Callback*);

// The result of ompt_start_tool(); the runtime keeps it until it ends.
struct StartToolResult {
  int (*initialize)(Lookup*, int initial_device, Data* tool);  // 0: the tool is not wanted
  void (*finalize)(Data* tool);
  Data tool;
};

}  // namespace timeloom::ompt
