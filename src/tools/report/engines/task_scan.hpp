// The tasks of engines in a trace, with their keys and times, and the times of spilling.
//
// A sink for the events of a run, by the rules of RunSink; take() and its like are for one thread,
// after the replay. Throws nothing but std::bad_alloc.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.hpp"
#include "tools/report/engines/task_graph.hpp"
#include "tools/report/engines/task_transfers.hpp"

namespace timeloom::tools {

class TaskScan final : public RunSink {
 public:
  // `locations`: the threads that count.
  explicit TaskScan(std::set<LocationId> locations) : locations_(std::move(locations)) {}

  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override {}

  TaskGraph take_graph() {
    is_complete_ = add_requests(tasks_, requests_);
    add_times(tasks_, times_);
    return {std::move(tasks_), std::move(spilling_), std::move(others_)};
  }
  const std::vector<Scheduling>& scheduling() const { return scheduling_; }
  std::vector<Transfer> take_transfers() { return std::move(transfers_); }
  // False: the graph lacks values that tasks take. Known after take_graph().
  bool is_complete() const { return is_complete_; }
  const std::string& engines() const { return engines_; }  // "Dask, joblib"

 private:
  class OneLocation;
  enum class Kind : std::uint8_t {
    kOther,
    kTask,
    kSpilling,
    kRequest,
    kTimes,
    kSuspension,
    kTransfer,
    kScheduling,
    kOtherTask
  };

  std::set<LocationId> locations_;
  const Definitions* definitions_ = nullptr;
  std::vector<Kind> regions_;            // by region
  std::vector<std::string> parameters_;  // by parameter: the name, if it tells of a task
  std::string engines_;
  std::mutex mutex_;
  std::vector<TaskRun> tasks_;
  std::vector<Spilling> spilling_;
  std::vector<OtherTask> others_;
  std::vector<Transfer> transfers_;
  std::vector<Scheduling> scheduling_;
  TaskRequests requests_;
  SparkTimesByKey times_;
  bool is_complete_ = true;
};

}  // namespace timeloom::tools
