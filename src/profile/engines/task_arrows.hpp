// Arrows between tasks of engines: from the end of the task that made a value to the start of a
// task that takes it.
//
// The parameters kKeyParameter, kNeedsParameter and kSubmitsParameter tell which these are; keys
// are told apart by the numbers of their strings. Times are ticks, all from the same start.
//
// Plain values and functions; a TaskFollower is used by one thread, which reads one track. Throws
// nothing but std::bad_alloc.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/definitions.hpp"
#include "core/event.hpp"

namespace timeloom::profile {

// The parameters of a run that tell of tasks.
class TaskParameters {
 public:
  enum class Kind : std::uint8_t { kNone, kKey, kNeeds, kSubmits };

  explicit TaskParameters(const Definitions& definitions);
  // Whether the run has keys of values that tasks take.
  bool any() const noexcept { return any_; }
  Kind kind_of(const Event& event) const noexcept {
    const bool text = event.kind == EventKind::kParameterString && event.ref < kinds_.size();
    return text ? kinds_[event.ref] : Kind::kNone;
  }

 private:
  std::vector<Kind> kinds_;  // by parameter
  bool any_ = false;
};

// A run of a task. `call`: its number among all calls of its track, in the order of their enters.
struct FollowedTask {
  std::uint32_t key = 0;
  std::uint64_t track = 0;
  std::uint64_t call = 0;
  std::uint64_t begin = 0, end = 0;
  std::vector<std::uint32_t> needs;  // the keys of the values that it takes
};

struct FollowedTasks {
  std::vector<FollowedTask> tasks;
  // Keys of tasks that a process asked for, with the keys of the values that they take.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> requests;
  bool complete = true;  // false: a track has more tasks, or takes more values, than are kept

  void add(FollowedTasks&& others);
};

// Follows the events of one track.
class TaskFollower {
 public:
  static constexpr std::size_t kMost = 1 << 20;  // tasks of a track, and keys of values

  TaskFollower(const TaskParameters& parameters, std::uint64_t track)
      : parameters_(parameters), track_(track) {}

  void enter(std::uint64_t time) { open_.push_back({time, calls_++, kNoTask}); }
  void leave(std::uint64_t time) noexcept;
  void parameter(const Event& event);

  FollowedTasks take() { return std::move(found_); }

 private:
  static constexpr std::size_t kNoTask = SIZE_MAX;
  struct Open {
    std::uint64_t begin = 0;
    std::uint64_t call = 0;
    std::size_t task = kNoTask;
  };

  void need(std::uint32_t key);

  const TaskParameters& parameters_;
  std::uint64_t track_;
  std::uint64_t calls_ = 0;  // so far
  std::vector<Open> open_;
  FollowedTasks found_;
  std::uint32_t asked_ = 0;  // the key of the task that the open request asks for
  bool asks_ = false;
  std::size_t needs_ = 0;
};

// Between two tasks, by index: `made` made a value that `taken` takes.
struct TaskArrow {
  std::size_t made = 0;
  std::size_t taken = 0;
};

struct TaskArrows {
  std::vector<TaskArrow> arrows;  // in the order of the takers' starts
  bool complete = true;           // false: some are missing, since there are limits
};

// Of several runs of a task, the last one that had ended when the other one started made the value.
// `tolerance`: by which two clocks may differ, in ticks. At most kMostTaken values are looked for,
// since each run of a key takes all that its requests name.
inline constexpr std::size_t kMostTaken = std::size_t{1} << 22;
TaskArrows arrows_between(const FollowedTasks& followed, std::uint64_t tolerance);

// For the user where arrows are missing, with its id.
inline constexpr char kArrowsLeftOut[] =
    "tasks take more values than are kept: arrows between tasks are missing [TL480]";

// A millisecond: a value may seem to be made a little after the task that takes it has started.
inline std::uint64_t tolerance_of(const ClockProperties& clock) noexcept {
  return clock.ticks_per_second / 1000;
}

}  // namespace timeloom::profile
