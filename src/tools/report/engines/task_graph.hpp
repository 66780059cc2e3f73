// The graph of the tasks of engines: which tasks held the run up, what a faster task would gain,
// and what workers waited for.
//
// A task comes after the tasks whose values it takes, after the task before it on its thread, and
// after all tasks before a time at which no task ran, if there was such a time before it came to
// its worker: the program waited for all of them then. The task that ended last among these is its
// predecessor; the time from the predecessor's end to the start of the task is its gap.
//
// Plain values and functions; times in seconds since the start of the run. They throw nothing but
// std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace timeloom::tools {

struct TaskRun {
  std::string key;
  std::string name;    // the prefix
  std::string worker;  // that ran it
  std::uint64_t thread = 0;
  std::uint32_t process = 0;
  bool of_spark = false;
  bool on_lane = false;  // a coroutine, which needs no thread of the worker
  double start = 0, end = 0;
  std::optional<double> queued;     // before the start: since it was asked for or, if not known,
                                    // since it came to the worker
  std::optional<double> fetched;    // the part of it at the worker until its values were there
  std::optional<double> at_worker;  // the last part of it; absent: all of it was at the worker
  std::vector<std::string> needs;   // the keys of the tasks whose values it takes
};

// When a process has asked for a task, and the keys of the tasks whose values this takes.
struct TaskRequest {
  double time = 0;
  std::vector<std::string> needs;
};
using TaskRequests = std::map<std::string, TaskRequest>;  // by the key of the task

// The time in the queue of the first run of each task that a process has asked for, none of it at
// the worker; and to all its runs the keys of the tasks whose values they take, up to `most` in
// all. False: more were left out.
inline constexpr std::size_t kMostNeeds = std::size_t{1} << 22;
bool add_requests(std::vector<TaskRun>& tasks, const TaskRequests& requests,
                  std::size_t most = kMostNeeds);

// When a task of Spark could run and was sent to its executor, and when Spark told so. The keys of
// a session start again at 0: these are times of a task that started between `ready` and `told`.
struct SparkTimes {
  double ready = 0, sent = 0, told = 0;
};
using SparkTimesByKey = std::multimap<std::string, SparkTimes>;

// The time in the queue of each task of Spark; the part since it was sent is the part at the
// worker.
void add_times(std::vector<TaskRun>& tasks, const SparkTimesByKey& times);

// A time in which values went to a disk or came back, in a process.
struct Spilling {
  std::uint32_t process = 0;
  double start = 0, end = 0;
};

// A task of another client, whose functions are not recorded.
struct OtherTask {
  std::string worker;
  std::uint64_t thread = 0;
  double start = 0, end = 0;
  bool on_lane = false;  // as TaskRun::on_lane
};

inline constexpr std::size_t kNoTask = SIZE_MAX;

enum class After : std::uint8_t { kNothing, kValue, kThread, kAllOthers };

// The time between the predecessor and the start, by its use.
struct Gap {
  double no_task = 0;    // a value that the task takes was not made yet, or nobody asked for it
  double scheduler = 0;  // the task could have run, and had not come to the worker
  double data = 0;       // the worker fetched its values
  double spilling = 0;   // values went to a disk or came back
  double worker = 0;     // it was at the worker, and the thread was free
  double others = 0;     // the thread ran a task of another client
  double unknown = 0;    // its arrival was not recorded
  double sum() const { return no_task + scheduler + data + spilling + worker + others + unknown; }
  Gap& operator+=(const Gap& other);
};

struct TaskLink {
  std::size_t task = kNoTask;  // the predecessor, by index
  After after = After::kNothing;
};

struct PathRow {  // the tasks of a prefix in the critical path
  std::string name;
  std::size_t tasks = 0;
  double seconds = 0;
  double before = 0;  // the gaps before them
  // The seconds by which the last task would end earlier if all tasks of the prefix took half the
  // time. Absent after the first kMostGains rows: each goes through all tasks.
  std::optional<double> gained;
};

struct WorkerRow {
  std::string name;
  std::size_t threads = 0;  // that ran a task
  std::size_t tasks = 0;
  double in_tasks = 0;  // of all its threads
  Gap idle;
};

struct QueueRow {  // the tasks of a prefix whose arrival is known
  std::string name;
  std::size_t tasks = 0;
  double queued = 0;  // of all of them
  double longest = 0;
  double fetched = 0;
};

class TaskGraph {
 public:
  static constexpr std::size_t kMostGains = 50;

  // `others`: tasks that are not among the `tasks`, for which their threads do not wait. Tasks
  // within other tasks of the same thread do not count. A worker that runs coroutines has as many
  // places as it ever ran tasks at once, and each of its tasks lies on one of them; they stand for
  // its threads.
  TaskGraph(std::vector<TaskRun> tasks, std::vector<Spilling> spilling,
            std::vector<OtherTask> others = {});

  const std::vector<TaskRun>& tasks() const { return tasks_; }  // by their starts
  double start() const { return start_; }                       // of the first task
  double end() const { return end_; }                           // of the last task
  bool has_needs() const { return has_needs_; }
  // The longest time by which a task seems to have started before a value that it takes was made:
  // the clocks of two processes differ by at least this.
  double backwards() const { return backwards_; }

  // The critical path, by index, in the order of time; empty: there are no tasks.
  std::vector<std::size_t> path() const;
  TaskLink link_of(std::size_t task) const { return links_[task]; }
  Gap gap_of(std::size_t task) const;  // from the predecessor on
  // The rows of the path, with the longest first.
  std::vector<PathRow> path_rows() const;
  // The workers by the time of their tasks, from the first start of a task until the last end of
  // one.
  std::vector<WorkerRow> workers() const;
  // With the longest time in queues first; empty: no arrival is known.
  std::vector<QueueRow> queues() const;

 private:
  void drop_inner_tasks();
  void use_places(std::vector<OtherTask>& others);
  void find_needs();
  void link();
  void take(std::size_t task, std::size_t before, After after);
  // The spilling of a process, by its starts.
  struct Spans {
    std::vector<Spilling> all;
    std::vector<double> ended;  // by span: the last end so far
  };
  void keep(std::vector<Spilling> spilling);
  void keep(std::vector<OtherTask> others);
  // `names`: a number for each task's name.
  double end_if_halved(const std::vector<std::size_t>& names, std::size_t name) const;
  Gap divided(std::size_t task, double from) const;
  double spilled(std::uint32_t process, double from, double to) const;
  // The part of the time in which the thread ran tasks of other clients.
  double of_others(std::uint64_t thread, double from, double to) const;

  std::vector<TaskRun> tasks_;
  std::map<std::uint32_t, Spans> spilling_;                 // by process
  std::map<std::uint64_t, std::vector<OtherTask>> others_;  // by thread, by their starts
  std::vector<std::vector<std::size_t>> needs_;  // by task: the runs whose values it takes
  std::vector<TaskLink> links_;
  std::vector<std::size_t> on_thread_;   // the task before it on the thread
  std::vector<std::size_t> all_before_;  // the last task before the last time without a task
  double start_ = 0, end_ = 0;
  bool has_needs_ = false;
  double backwards_ = 0;
};

}  // namespace timeloom::tools
