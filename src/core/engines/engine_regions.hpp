// Regions of engines that run a program's functions as tasks in workers: names that the recorder
// writes and reports read. Constants, and functions of plain values, for any thread; only
// unknown_engine_text() throws, std::bad_alloc.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "core/definitions.hpp"

namespace timeloom {

// The groups (Region::group) of the regions that belong to engines: Dask's distributed, Celery,
// Ray, Spark, PyTorch's DataLoader, and the pools of Python's library, joblib and loky.
inline constexpr char kDaskGroup[] = "Dask";
inline constexpr char kCeleryGroup[] = "Celery";
inline constexpr char kRayGroup[] = "Ray";
inline constexpr char kSparkGroup[] = "Spark";
inline constexpr char kLoaderGroup[] = "DataLoader";
inline constexpr char kPoolGroup[] = "multiprocessing";
inline constexpr char kJoblibGroup[] = "joblib";
inline constexpr std::string_view kEngineGroups[] = {kDaskGroup,   kCeleryGroup,         kRayGroup,
                                                     kSparkGroup,  kLoaderGroup,         kPoolGroup,
                                                     kJoblibGroup, "concurrent.futures", "loky"};
// Values that go from memory to a worker's disk, and back.
inline constexpr char kDaskSpill[] = "spill to disk";
inline constexpr char kDaskUnspill[] = "read spilled";
// Values that a worker fetches from another one.
inline constexpr char kDaskTransfer[] = "transfer";
// The scheduler's own work.
inline constexpr char kDaskSchedule[] = "schedule tasks";
// A task that a client of another program has asked for; its functions are not recorded.
inline constexpr char kDaskOtherTask[] = "task of another client";
// The region in which a process asks Ray for a task.
inline constexpr char kRayRequest[] = "ray.remote";
// The region in which a program asks Spark for the times of its tasks.
inline constexpr char kSparkTimes[] = "times of tasks";

// The parameter whose values are the keys of tasks. Like kTaskParameter it does not tell call paths
// apart.
inline constexpr char kKeyParameter[] = "timeloom::key";
// The same for the nanoseconds from the submission of a task until it started.
inline constexpr char kQueuedParameter[] = "timeloom::queued_ns";
// The same for the part of this time until the values that the task takes were on its worker.
inline constexpr char kFetchedParameter[] = "timeloom::fetched_ns";
// The same for the last part of this time, in which the task was at its worker.
inline constexpr char kAtWorkerParameter[] = "timeloom::at_worker_ns";
// The parameter of a region in which a program asks for a task: the key of this task. The keys in
// kNeedsParameter that follow it belong to the task, too.
inline constexpr char kSubmitsParameter[] = "timeloom::submits";
// In kSparkTimes, after the key of a task: how many nanoseconds before the start of the region the
// task could run, and was sent to its executor.
inline constexpr char kReadyBeforeParameter[] = "timeloom::ready_before_ns";
inline constexpr char kSentBeforeParameter[] = "timeloom::sent_before_ns";
// The same for the keys of the tasks whose values the task takes; one value for each.
inline constexpr char kNeedsParameter[] = "timeloom::needs";

// The same for the numbers of a task of Spark.
inline constexpr char kStageParameter[] = "timeloom::stage";
inline constexpr char kPartitionParameter[] = "timeloom::partition";
inline constexpr char kAttemptParameter[] = "timeloom::attempt";

// The parameters of a transfer: the worker that has the values, the number of their keys, and their
// size, as far as the engine knows it.
inline constexpr char kPeerParameter[] = "timeloom::peer";
inline constexpr char kKeysParameter[] = "timeloom::keys";
inline constexpr char kBytesParameter[] = "timeloom::bytes";

// The name of such a parameter for tables and exports; empty: the parameter does not describe a
// task or a transfer.
inline std::string_view task_parameter_text(const Parameter& parameter) noexcept {
  if (parameter.name == kKeyParameter) return "task key";
  if (parameter.name == kQueuedParameter) return "task queued ns";
  if (parameter.name == kFetchedParameter) return "task fetched ns";
  if (parameter.name == kAtWorkerParameter) return "task at worker ns";
  if (parameter.name == kSubmitsParameter) return "task submits";
  if (parameter.name == kReadyBeforeParameter) return "task ready before ns";
  if (parameter.name == kSentBeforeParameter) return "task sent before ns";
  if (parameter.name == kNeedsParameter) return "task needs";
  if (parameter.name == kStageParameter) return "task stage";
  if (parameter.name == kPartitionParameter) return "task partition";
  if (parameter.name == kAttemptParameter) return "task attempt";
  if (parameter.name == kPeerParameter) return "transfer peer";
  if (parameter.name == kKeysParameter) return "transfer keys";
  if (parameter.name == kBytesParameter) return "transfer bytes";
  return {};
}

inline bool tells_of_task(const Parameter& parameter) noexcept {
  return !task_parameter_text(parameter).empty();
}

// Whether each visit of the region is a task of an engine.
inline bool is_engine_task(const Region& region) noexcept {
  return region.role == RegionRole::kTask && region.paradigm == Paradigm::kUser &&
         std::ranges::find(kEngineGroups, region.group) != std::end(kEngineGroups);
}

// Whether a worker fetches values in each visit of the region.
inline bool is_engine_transfer(const Region& region) noexcept {
  return region.group == kDaskGroup && region.name == kDaskTransfer &&
         region.role == RegionRole::kDataTransfer;
}

// Whether a scheduler works in each visit of the region.
inline bool is_scheduling(const Region& region) noexcept {
  return region.group == kDaskGroup && region.name == kDaskSchedule &&
         region.role == RegionRole::kCode;
}

// Whether each visit of the region is a task that another client has asked for.
inline bool is_other_task(const Region& region) noexcept {
  return region.group == kDaskGroup && region.name == kDaskOtherTask &&
         region.role == RegionRole::kCode;
}

// Whether the region tells of times of Spark's tasks.
inline bool tells_task_times(const Region& region) noexcept {
  return region.group == kSparkGroup && region.name == kSparkTimes &&
         region.role == RegionRole::kDataTransfer;
}

// Whether the program asks an engine for a task in each visit of the region.
inline bool is_task_request(const Region& region) noexcept {
  return region.group == kRayGroup && region.name == kRayRequest;
}

// Properties of a run: the numbers of workers and tasks of an engine, in words (only in the
// profile); and an engine of a version whose tasks are not recognised, such as "distributed
// 2030.1.0". With a suffix: a part of it, such as kUnknownEngine + "_transfers" for "transfers of
// distributed 2030.1.0".
inline constexpr char kEngine[] = "timeloom::engine";
inline constexpr char kUnknownEngine[] = "timeloom::unknown_engine";

// The message about an engine in a version that Timeloom does not know, and about parts of it;
// empty: there is none.
inline std::string unknown_engine_text(const std::map<std::string, std::string>& properties) {
  std::string all;
  for (auto one = properties.lower_bound(kUnknownEngine);
       one != properties.end() && one->first.starts_with(kUnknownEngine); ++one) {
    const bool of_tasks = !one->second.starts_with("transfers of ");
    all += (all.empty() ? "" : ", ") + std::string(of_tasks ? "tasks of " : "") + one->second;
  }
  if (all.empty()) return all;
  return all + " are not recognised: Timeloom does not know this version [TL060]";
}

// The names of processes that are workers begin with these, see python/session/worker_name.cpp.
inline constexpr char kDaskWorker[] = "Dask worker ";
inline constexpr char kRayWorker[] = "Ray worker ";
inline constexpr char kRayActor[] = "Ray actor ";
// An actor of ours, which is not a worker: it answers for its host
// (python/timeloom/_engines/_ray_host.py).
inline constexpr char kRayHost[] = "Ray actor TimeloomHost";
// A Python worker of Spark. Weaving adds a number, in the order of their starts.
inline constexpr char kSparkWorker[] = "Spark worker";
// Also the name of a forked worker of multiprocessing.Pool.
inline constexpr char kForkedWorker[] = "ForkPoolWorker-";

// In the names of locations of coroutines of a worker: behind the name of the worker, before the
// number of the location. Tasks of Dask and its transfers; methods of actors of Ray.
inline constexpr std::string_view kDaskAsyncTasks = "-Dask-Async-Tasks";
inline constexpr std::string_view kDaskTransfers = "-Dask-Transfers";
inline constexpr std::string_view kRayAsyncTasks = "Ray-Async-Tasks";
inline bool is_engine_lane(std::string_view location) noexcept {
  return location.find(kDaskAsyncTasks) != std::string_view::npos ||
         location.find(kDaskTransfers) != std::string_view::npos ||
         location.starts_with(kRayAsyncTasks);
}

// The file that Ray runs in its workers: their name until they have one of an engine.
inline constexpr char kRayProgram[] = "ray/_private/workers/default_worker.py";

// The engine that ends a process of this name when its work is done, so that Python runs no code at
// its end; empty: none does.
inline std::string_view engine_that_ends(std::string_view process) noexcept {
  if (process.starts_with(kSparkWorker)) return kSparkGroup;
  const bool of_ray = process.starts_with(kRayWorker) || process.starts_with(kRayActor) ||
                      process.ends_with(kRayProgram);
  return of_ray ? kRayGroup : std::string_view();
}

}  // namespace timeloom
