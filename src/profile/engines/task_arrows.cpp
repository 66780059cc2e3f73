#include "profile/engines/task_arrows.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>

#include "core/engines/engine_regions.hpp"

namespace timeloom::profile {
namespace {

using Kind = TaskParameters::Kind;
// The tasks with a key, in the order of their ends.
using ByKey = std::unordered_map<std::uint32_t, std::vector<std::size_t>>;

ByKey runs_by_key(const std::vector<FollowedTask>& tasks) {
  ByKey runs;
  for (std::size_t i = 0; i < tasks.size(); ++i) runs[tasks[i].key].push_back(i);
  const auto end = [&](std::size_t task) { return tasks[task].end; };
  for (auto& [key, all] : runs) std::ranges::stable_sort(all, {}, end);
  return runs;
}

using NeedsByKey = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;

NeedsByKey requested_needs(const FollowedTasks& followed) {
  NeedsByKey needs;
  for (const auto& [key, need] : followed.requests) needs[key].push_back(need);
  return needs;
}

class Connector {
 public:
  Connector(const std::vector<FollowedTask>& tasks, std::uint64_t tolerance)
      : tasks_(tasks), runs_(runs_by_key(tasks)), tolerance_(tolerance) {}

  void connect(std::size_t taken, const std::vector<std::uint32_t>& needs) {
    for (const std::uint32_t need : needs) {
      if (left_ == 0) return void(complete_ = false);
      --left_;
      const auto found = runs_.find(need);
      if (found == runs_.end()) continue;
      const auto end = [&](std::size_t task) { return tasks_[task].end; };
      const std::uint64_t latest = tasks_[taken].begin + tolerance_;
      const auto after = std::ranges::upper_bound(found->second, latest, {}, end);
      if (after == found->second.begin() || *(after - 1) == taken) continue;
      arrows_.push_back({*(after - 1), taken});
    }
  }

  TaskArrows take() {
    const auto place = [&](const TaskArrow& arrow) {
      const FollowedTask &taken = tasks_[arrow.taken], &made = tasks_[arrow.made];
      return std::tuple(taken.begin, taken.track, made.end, made.track);
    };
    std::ranges::stable_sort(arrows_, {}, place);
    return {std::move(arrows_), complete_};
  }

 private:
  const std::vector<FollowedTask>& tasks_;
  const ByKey runs_;
  const std::uint64_t tolerance_;
  std::vector<TaskArrow> arrows_;
  // Values to look for: the requests of a key count for each of its runs.
  std::size_t left_ = kMostTaken;
  bool complete_ = true;
};

}  // namespace

TaskParameters::TaskParameters(const Definitions& definitions) {
  for (const Parameter& parameter : definitions.parameters) {
    const bool text = parameter.type == ParameterType::kString;
    kinds_.push_back(!text                                 ? Kind::kNone
                     : parameter.name == kKeyParameter     ? Kind::kKey
                     : parameter.name == kNeedsParameter   ? Kind::kNeeds
                     : parameter.name == kSubmitsParameter ? Kind::kSubmits
                                                           : Kind::kNone);
    any_ = any_ || kinds_.back() == Kind::kNeeds;
  }
}

void FollowedTasks::add(FollowedTasks&& others) {
  std::ranges::move(others.tasks, std::back_inserter(tasks));
  std::ranges::move(others.requests, std::back_inserter(requests));
  complete = complete && others.complete;
}

void TaskFollower::leave(std::uint64_t time) noexcept {
  asks_ = false;
  if (open_.empty()) return;
  if (open_.back().task != kNoTask) found_.tasks[open_.back().task].end = time;
  open_.pop_back();
}

void TaskFollower::parameter(const Event& event) {
  const Kind kind = parameters_.kind_of(event);
  if (kind == Kind::kNone || open_.empty()) return;
  const std::uint32_t key = event.string().value();
  if (kind == Kind::kNeeds) return need(key);
  if (kind == Kind::kSubmits) {
    asks_ = true;
    asked_ = key;
    return;
  }
  if (found_.tasks.size() == kMost) return void(found_.complete = false);
  Open& open = open_.back();
  open.task = found_.tasks.size();
  found_.tasks.push_back({key, track_, open.call, open.begin, open.begin, {}});
}

void TaskFollower::need(std::uint32_t key) {
  if (!asks_ && open_.back().task == kNoTask) return;
  if (needs_ == kMost) return void(found_.complete = false);
  ++needs_;
  if (asks_) {
    found_.requests.emplace_back(asked_, key);
  } else {
    found_.tasks[open_.back().task].needs.push_back(key);
  }
}

TaskArrows arrows_between(const FollowedTasks& followed, std::uint64_t tolerance) {
  const NeedsByKey requested = requested_needs(followed);
  Connector connector(followed.tasks, tolerance);
  for (std::size_t i = 0; i < followed.tasks.size(); ++i) {
    const FollowedTask& task = followed.tasks[i];
    const auto request = requested.find(task.key);
    if (!task.needs.empty()) connector.connect(i, task.needs);
    if (task.needs.empty() && request != requested.end()) connector.connect(i, request->second);
  }
  TaskArrows found = connector.take();
  found.complete = found.complete && followed.complete;
  return found;
}

}  // namespace timeloom::profile
