#include "tools/report/engines/task_scan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/engines/engine_regions.hpp"
#include "core/waiting_metric.hpp"
#include "profile/engine_counts.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {

// The tasks and the spilling between the enters and leaves of one location.
class TaskScan::OneLocation final : public LocationSink {
 public:
  OneLocation(TaskScan& all, const Location& location)
      : all_(all),
        definitions_(*all.definitions_),
        worker_(profile::worker_of_task(definitions_, location)),
        thread_(location.id.value()),
        process_(location.group.value()),
        on_lane_(is_engine_lane(location.name)) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      switch (event.kind) {
        case EventKind::kEnter: enter(event); break;
        case EventKind::kLeave: leave(event); break;
        case EventKind::kParameterString:
        case EventKind::kParameterUint: parameter(event); break;
        default: break;
      }
    }
  }

  void finish() override {
    for (TaskRun& task : tasks_) task.on_lane = on_lane_;
    for (OtherTask& task : others_) task.on_lane = on_lane_;
    const std::scoped_lock lock(all_.mutex_);
    std::ranges::move(tasks_, std::back_inserter(all_.tasks_));
    std::ranges::move(spilling_, std::back_inserter(all_.spilling_));
    std::ranges::move(others_, std::back_inserter(all_.others_));
    std::ranges::move(transfers_, std::back_inserter(all_.transfers_));
    std::ranges::move(scheduling_, std::back_inserter(all_.scheduling_));
    all_.requests_.merge(requests_);
    all_.times_.merge(times_);
  }

 private:
  double time_of(const Event& event) const {
    const std::uint64_t begin = definitions_.clock.begin, time = ticks(event.time);
    return seconds(time - std::min(time, begin), definitions_);
  }

  Kind kind_of(const Event& event) const {
    return event.ref < all_.regions_.size() ? all_.regions_[event.ref] : Kind::kOther;
  }

  void enter(const Event& event) {
    ++depth_;
    const Kind kind = kind_of(event);
    request_ = nullptr;
    told_ = nullptr;
    tells_times_ = kind == Kind::kTimes;
    if (kind == Kind::kSpilling) spill_start_ = time_of(event);
    if (kind == Kind::kSuspension) on_lane_ = true;
    if (kind == Kind::kScheduling) {
      scheduling_.push_back({time_of(event), time_of(event), thread_});
    }
    if (kind == Kind::kOtherTask)
      others_.push_back({worker_, thread_, time_of(event), time_of(event)});
    if (kind == Kind::kTransfer) transfer_ = {worker_, time_of(event), time_of(event)};
    if (kind == Kind::kRequest || kind == Kind::kTimes) request_start_ = time_of(event);
    if (kind != Kind::kTask) return;
    TaskRun task;
    task.name = definitions_.regions[event.ref].name;
    task.worker = worker_;
    task.thread = thread_;
    task.process = process_;
    task.of_spark = definitions_.regions[event.ref].group == kSparkGroup;
    task.start = task.end = time_of(event);
    open_.emplace_back(depth_, std::move(task));
  }

  void leave(const Event& event) {
    request_ = nullptr;
    told_ = nullptr;
    tells_times_ = false;
    if (kind_of(event) == Kind::kSpilling) {
      spilling_.push_back({process_, spill_start_, time_of(event)});
    }
    if (kind_of(event) == Kind::kScheduling && !scheduling_.empty()) {
      scheduling_.back().end = time_of(event);
    }
    if (kind_of(event) == Kind::kOtherTask && !others_.empty()) {
      others_.back().end = time_of(event);
    }
    if (kind_of(event) == Kind::kTransfer) {
      transfer_.end = time_of(event);
      transfers_.push_back(transfer_);
    }
    if (!open_.empty() && open_.back().first == depth_) {
      open_.back().second.end = time_of(event);
      tasks_.push_back(std::move(open_.back().second));
      open_.pop_back();
    }
    if (depth_ > 0) --depth_;
  }

  void parameter(const Event& event) {
    if (event.ref >= all_.parameters_.size() || all_.parameters_[event.ref].empty()) return;
    const std::string& name = all_.parameters_[event.ref];
    if (event.kind == EventKind::kParameterUint) return number(name, event.value);
    const std::uint32_t index = event.string().value();
    if (index < definitions_.strings.size()) text(name, definitions_.strings[index]);
  }

  // Of the task or transfer that was just entered, or of a task that Spark tells of.
  void number(const std::string& name, std::uint64_t value) {
    const double time = static_cast<double>(value) * 1e-9;
    if (name == kKeysParameter) transfer_.keys = value;
    if (name == kBytesParameter) transfer_.bytes = value;
    if (told_ != nullptr) {
      if (name == kReadyBeforeParameter) told_->ready = request_start_ - time;
      if (name == kSentBeforeParameter) told_->sent = request_start_ - time;
    }
    if (open_.empty()) return;
    TaskRun& task = open_.back().second;
    if (name == kQueuedParameter) task.queued = time;
    if (name == kFetchedParameter) task.fetched = time;
    if (name == kAtWorkerParameter) task.at_worker = time;
  }

  // Of the task that was just entered, or of the request that is about to end.
  void text(const std::string& name, const std::string& value) {
    if (name == kSubmitsParameter && tells_times_) {
      const double now = request_start_;
      told_ = &times_.emplace(value, SparkTimes{now, now, now})->second;
    } else if (name == kSubmitsParameter) {
      request_ = &requests_.try_emplace(value, TaskRequest{request_start_, {}}).first->second;
    } else if (name == kNeedsParameter && request_ != nullptr) {
      request_->needs.push_back(value);
    } else if (!open_.empty()) {
      TaskRun& task = open_.back().second;
      if (name == kKeyParameter) task.key = value;
      if (name == kNeedsParameter) task.needs.push_back(value);
    }
  }

  TaskScan& all_;
  const Definitions& definitions_;
  const std::string worker_;
  const std::uint64_t thread_;
  const std::uint32_t process_;
  bool on_lane_;  // its tasks are coroutines
  std::uint32_t depth_ = 0;
  double spill_start_ = 0;
  Transfer transfer_;  // the last one
  double request_start_ = 0;
  TaskRequest* request_ = nullptr;  // the last one, until its region ends
  bool tells_times_ = false;        // the region that was entered last does
  SparkTimes* told_ = nullptr;      // the last ones, until the region ends
  TaskRequests requests_;
  SparkTimesByKey times_;
  std::vector<std::pair<std::uint32_t, TaskRun>> open_;  // with their depths
  std::vector<TaskRun> tasks_;
  std::vector<Spilling> spilling_;
  std::vector<OtherTask> others_;
  std::vector<Transfer> transfers_;
  std::vector<Scheduling> scheduling_;
};

void TaskScan::begin(const Definitions& definitions) {
  definitions_ = &definitions;
  std::set<std::string> engines;
  for (const Region& region : definitions.regions) {
    const bool spills =
        region.group == kDaskGroup && (region.name == kDaskSpill || region.name == kDaskUnspill);
    const bool is_task = is_engine_task(region);
    if (is_task) engines.insert(region.group);
    regions_.push_back(spills                       ? Kind::kSpilling
                       : is_task                    ? Kind::kTask
                       : is_task_request(region)    ? Kind::kRequest
                       : tells_task_times(region)   ? Kind::kTimes
                       : is_suspension(region)      ? Kind::kSuspension
                       : is_engine_transfer(region) ? Kind::kTransfer
                       : is_scheduling(region)      ? Kind::kScheduling
                       : is_other_task(region)      ? Kind::kOtherTask
                                                    : Kind::kOther);
  }
  for (const std::string& engine : engines) engines_ += (engines_.empty() ? "" : ", ") + engine;
  for (const Parameter& parameter : definitions.parameters) {
    parameters_.push_back(tells_of_task(parameter) ? parameter.name : std::string());
  }
}

std::unique_ptr<LocationSink> TaskScan::open_location(const Location& location) {
  class Nothing final : public LocationSink {
    void consume(std::span<const Event>) override {}
    void finish() override {}
  };
  if (!locations_.contains(location.id)) return std::make_unique<Nothing>();
  return std::make_unique<OneLocation>(*this, location);
}

}  // namespace timeloom::tools
