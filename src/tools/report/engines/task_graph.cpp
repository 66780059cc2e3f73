#include "tools/report/engines/task_graph.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace timeloom::tools {
namespace {

// Of two clocks: a value may seem to be made a little after the task that takes it has started.
constexpr double kClockError = 1e-3;

// When a task came to its worker, at the latest.
double came(const TaskRun& task) {
  return task.start - (task.at_worker ? *task.at_worker : task.queued.value_or(0));
}

// When somebody asked for it, or it came to its worker.
double asked(const TaskRun& task) { return task.start - task.queued.value_or(0); }

// The runs of each key, in the order of their ends.
std::map<std::string, std::vector<std::size_t>> runs_of_keys(const std::vector<TaskRun>& tasks) {
  std::map<std::string, std::vector<std::size_t>> runs;
  for (std::size_t i = 0; i < tasks.size(); ++i) runs[tasks[i].key].push_back(i);
  const auto end = [&](std::size_t task) { return tasks[task].end; };
  for (auto& [key, all] : runs) std::ranges::stable_sort(all, {}, end);
  return runs;
}

// A number for the name of each task, in the order of the names.
std::vector<std::size_t> numbers_of_names(const std::vector<TaskRun>& tasks) {
  std::map<std::string, std::size_t> known;
  for (const TaskRun& task : tasks) known.try_emplace(task.name);
  for (std::size_t next = 0; auto& [name, number] : known) number = next++;
  std::vector<std::size_t> numbers;
  numbers.reserve(tasks.size());
  for (const TaskRun& task : tasks) numbers.push_back(known.at(task.name));
  return numbers;
}

// The last run of a key that had ended at a time.
std::size_t run_before(const std::vector<std::size_t>& runs, const std::vector<TaskRun>& tasks,
                       double time) {
  const auto end = [&](std::size_t task) { return tasks[task].end; };
  const auto after = std::ranges::upper_bound(runs, time + kClockError, {}, end);
  return after == runs.begin() ? kNoTask : *(after - 1);
}

// The places of a worker for tasks: threads and lanes, until when each is in use.
class Places {
 public:
  // Tasks come in the order of their starts. Its own thread or lane if that is a place without a
  // task, else the place that became free last, else a new one.
  std::uint64_t take(std::uint64_t thread, double start, double end) {
    const auto is_free = [&](const auto& place) { return place.second <= start; };
    auto place = until_.find(thread);
    if (place == until_.end() || !is_free(*place)) {
      place = until_.end();
      for (auto one = until_.begin(); one != until_.end(); ++one) {
        const bool later = place == until_.end() || one->second > place->second;
        if (is_free(*one) && later) place = one;
      }
    }
    if (place == until_.end()) place = until_.try_emplace(unused(thread), 0).first;
    place->second = end;
    return place->first;
  }

 private:
  // The thread; a number that no thread has, if it is a place already.
  std::uint64_t unused(std::uint64_t thread) const {
    constexpr std::uint64_t kAfterThreads = std::uint64_t{1} << 40;
    return until_.contains(thread) ? thread + kAfterThreads * until_.size() : thread;
  }

  std::map<std::uint64_t, double> until_;  // by number
};

}  // namespace

bool add_requests(std::vector<TaskRun>& tasks, const TaskRequests& requests, std::size_t most) {
  std::map<std::string, TaskRun*> first;
  std::size_t left = most;
  bool complete = true;
  for (TaskRun& task : tasks) {
    const auto request = requests.find(task.key);
    if (request == requests.end()) continue;
    const std::vector<std::string>& needs = request->second.needs;
    if (task.needs.empty() && needs.size() > left) complete = false;
    if (task.needs.empty() && needs.size() <= left) {
      task.needs = needs;
      left -= needs.size();
    }
    const auto [known, is_new] = first.try_emplace(task.key, &task);
    if (!is_new && task.start < known->second->start) known->second = &task;
  }
  for (const auto& [key, task] : first) {
    const double time = requests.at(key).time;
    if (task->queued || time > task->start) continue;
    task->queued = task->start - time;
    task->at_worker = 0;
  }
  return complete;
}

void add_times(std::vector<TaskRun>& tasks, const SparkTimesByKey& times) {
  std::map<std::pair<std::string_view, double>, const SparkTimes*> by_ready;
  for (const auto& [key, known] : times)
    by_ready.emplace(std::pair(std::string_view(key), known.ready), &known);
  for (TaskRun& task : tasks) {
    if (!task.of_spark || task.queued) continue;
    const auto after = by_ready.upper_bound({task.key, task.start});
    if (after == by_ready.begin()) continue;
    const auto& [place, at] = *std::prev(after);
    if (place.first != task.key || task.start > at->told) continue;
    task.queued = task.start - at->ready;
    task.at_worker = std::clamp(task.start - at->sent, 0.0, *task.queued);
  }
}

Gap& Gap::operator+=(const Gap& other) {
  no_task += other.no_task;
  scheduler += other.scheduler;
  data += other.data;
  spilling += other.spilling;
  worker += other.worker;
  others += other.others;
  unknown += other.unknown;
  return *this;
}

TaskGraph::TaskGraph(std::vector<TaskRun> tasks, std::vector<Spilling> spilling,
                     std::vector<OtherTask> others)
    : tasks_(std::move(tasks)) {
  std::ranges::stable_sort(tasks_, {}, &TaskRun::start);
  keep(std::move(spilling));
  drop_inner_tasks();
  use_places(others);
  keep(std::move(others));
  if (tasks_.empty()) return;
  start_ = tasks_.front().start;
  end_ = std::ranges::max(tasks_, {}, &TaskRun::end).end;
  find_needs();
  link();
}

void TaskGraph::keep(std::vector<Spilling> spilling) {
  std::ranges::stable_sort(spilling, {}, &Spilling::start);
  for (const Spilling& one : spilling) {
    Spans& spans = spilling_[one.process];
    spans.ended.push_back(spans.ended.empty() ? one.end : std::max(one.end, spans.ended.back()));
    spans.all.push_back(one);
  }
}

void TaskGraph::keep(std::vector<OtherTask> others) {
  for (OtherTask& one : others) others_[one.thread].push_back(std::move(one));
}

void TaskGraph::drop_inner_tasks() {
  std::map<std::uint64_t, double> busy;  // until when, by thread
  std::erase_if(tasks_, [&](const TaskRun& task) {
    const auto [found, is_new] = busy.try_emplace(task.thread, task.end);
    if (!is_new && task.start < found->second) return true;
    found->second = task.end;
    return false;
  });
}

void TaskGraph::use_places(std::vector<OtherTask>& others) {
  std::map<std::string_view, Places> workers;
  const auto note = [&](const auto& task) {
    if (task.on_lane) workers.try_emplace(task.worker);
  };
  std::ranges::for_each(tasks_, note);
  std::ranges::for_each(others, note);
  const auto take = [&](auto& task) {
    const auto found = workers.find(task.worker);
    if (found != workers.end()) task.thread = found->second.take(task.thread, task.start, task.end);
  };
  std::ranges::stable_sort(others, {}, &OtherTask::start);
  auto other = others.begin();
  for (TaskRun& task : tasks_) {
    for (; other != others.end() && other->start < task.start; ++other) take(*other);
    take(task);
  }
  std::for_each(other, others.end(), take);
}

void TaskGraph::find_needs() {
  const auto runs = runs_of_keys(tasks_);
  needs_.resize(tasks_.size());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    for (const std::string& key : tasks_[i].needs) {
      const auto found = runs.find(key);
      if (found == runs.end()) continue;
      const std::size_t made = run_before(found->second, tasks_, tasks_[i].start);
      if (made >= i) continue;
      needs_[i].push_back(made);
      backwards_ = std::max(backwards_, tasks_[made].end - tasks_[i].start);
    }
    has_needs_ = has_needs_ || !needs_[i].empty();
  }
}

void TaskGraph::take(std::size_t task, std::size_t before, After after) {
  if (before == kNoTask) return;
  TaskLink& link = links_[task];
  const bool later = link.task == kNoTask || tasks_[before].end > tasks_[link.task].end;
  if (later) link = {before, after};
}

void TaskGraph::link() {
  links_.resize(tasks_.size());
  on_thread_.assign(tasks_.size(), kNoTask);
  all_before_.assign(tasks_.size(), kNoTask);
  std::map<std::uint64_t, std::size_t> last;  // by thread
  std::size_t latest = kNoTask, before_pause = kNoTask;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (latest != kNoTask && tasks_[i].start > tasks_[latest].end) before_pause = latest;
    const auto [found, is_first] = last.try_emplace(tasks_[i].thread, i);
    if (!is_first) on_thread_[i] = std::exchange(found->second, i);
    if (before_pause != kNoTask && asked(tasks_[i]) >= tasks_[before_pause].end) {
      all_before_[i] = before_pause;
    }
    for (const std::size_t made : needs_[i]) take(i, made, After::kValue);
    take(i, on_thread_[i], After::kThread);
    take(i, all_before_[i], After::kAllOthers);
    if (latest == kNoTask || tasks_[i].end > tasks_[latest].end) latest = i;
  }
}

std::vector<std::size_t> TaskGraph::path() const {
  std::vector<std::size_t> path;
  if (tasks_.empty()) return path;
  const auto last = std::ranges::max_element(tasks_, {}, &TaskRun::end);
  for (auto task = static_cast<std::size_t>(last - tasks_.begin()); task != kNoTask;
       task = links_[task].task) {
    path.push_back(task);
  }
  std::ranges::reverse(path);
  return path;
}

Gap TaskGraph::gap_of(std::size_t task) const {
  const std::size_t before = links_[task].task;
  return before == kNoTask ? Gap() : divided(task, tasks_[before].end);
}

std::vector<PathRow> TaskGraph::path_rows() const {
  const std::vector<std::size_t> names = numbers_of_names(tasks_);
  std::map<std::size_t, PathRow> rows;
  for (const std::size_t i : path()) {
    PathRow& row = rows[names[i]];
    row.name = tasks_[i].name;
    ++row.tasks;
    row.seconds += tasks_[i].end - tasks_[i].start;
    row.before += gap_of(i).sum();
  }
  std::vector<PathRow> result;
  std::vector<std::size_t> numbers;
  for (const auto& [name, row] : rows) numbers.push_back(name);
  const auto seconds = [&](std::size_t name) { return rows[name].seconds; };
  std::ranges::stable_sort(numbers, std::greater(), seconds);
  for (const std::size_t name : numbers) {
    PathRow& row = result.emplace_back(std::move(rows[name]));
    if (result.size() <= kMostGains) row.gained = std::max(end_ - end_if_halved(names, name), 0.0);
  }
  return result;
}

// Each task starts as long after its last predecessor as it has, on the same thread.
double TaskGraph::end_if_halved(const std::vector<std::size_t>& names, std::size_t name) const {
  std::vector<double> ends(tasks_.size());
  double end = 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const TaskRun& task = tasks_[i];
    double start = task.start;
    if (const std::size_t before = links_[i].task; before != kNoTask) {
      double ready = on_thread_[i] == kNoTask ? 0 : ends[on_thread_[i]];
      if (all_before_[i] != kNoTask) ready = std::max(ready, ends[all_before_[i]]);
      for (const std::size_t made : needs_[i]) ready = std::max(ready, ends[made]);
      start = ready + std::max(task.start - tasks_[before].end, 0.0);
    }
    ends[i] = start + (task.end - task.start) * (names[i] == name ? 0.5 : 1);
    end = std::max(end, ends[i]);
  }
  return end;
}

double TaskGraph::spilled(std::uint32_t process, double from, double to) const {
  const auto found = spilling_.find(process);
  if (from >= to || found == spilling_.end()) return 0;
  const auto& [all, ended] = found->second;
  const auto first = std::ranges::upper_bound(ended, from) - ended.begin();
  double sum = 0;
  for (auto one = all.begin() + first; one != all.end() && one->start < to; ++one) {
    sum += std::max(std::min(to, one->end) - std::max(from, one->start), 0.0);
  }
  return std::min(sum, to - from);
}

// A thread runs one task at a time, so the ends are in the order of the starts.
double TaskGraph::of_others(std::uint64_t thread, double from, double to) const {
  const auto found = others_.find(thread);
  if (from >= to || found == others_.end()) return 0;
  double sum = 0;
  for (auto one = std::ranges::upper_bound(found->second, from, {}, &OtherTask::end);
       one != found->second.end() && one->start < to; ++one) {
    sum += std::max(std::min(to, one->end) - std::max(from, one->start), 0.0);
  }
  return sum;
}

// The time from `from` until the task starts, in which its thread ran no task.
Gap TaskGraph::divided(std::size_t index, double from) const {
  const TaskRun& task = tasks_[index];
  Gap gap;
  double at = std::min(from, task.start);
  const auto until = [&](double time) {
    const double next = std::clamp(time, at, task.start);
    const double others = of_others(task.thread, at, next);
    gap.others += others;
    return next - std::exchange(at, next) - others;
  };
  double made = 0;
  for (const std::size_t need : needs_[index]) made = std::max(made, tasks_[need].end);
  gap.no_task = until(made);
  if (!task.queued) {
    gap.unknown = until(task.start);
    return gap;
  }
  const double fetched = came(task) + task.fetched.value_or(0);
  if (task.at_worker) {
    gap.no_task += until(asked(task));
    gap.scheduler += until(came(task));
  }
  // Nobody knows when the program has asked for a task that takes no value.
  (needs_[index].empty() ? gap.no_task : gap.scheduler) += until(came(task));
  const double fetching = at;
  gap.data = until(fetched);
  gap.worker = until(task.start);
  gap.spilling = std::min(spilled(task.process, fetching, task.start), gap.data + gap.worker);
  const double from_worker = std::min(gap.spilling, gap.worker);
  gap.worker -= from_worker;
  gap.data = std::max(gap.data - (gap.spilling - from_worker), 0.0);
  return gap;
}

std::vector<WorkerRow> TaskGraph::workers() const {
  std::map<std::string, WorkerRow> rows;
  std::map<std::string, std::set<std::uint64_t>> threads;
  std::map<std::uint64_t, std::pair<std::string, double>> busy;  // by thread: the last end
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const TaskRun& task = tasks_[i];
    WorkerRow& row = rows[task.worker];
    ++row.tasks;
    row.in_tasks += task.end - task.start;
    threads[task.worker].insert(task.thread);
    const auto found = busy.try_emplace(task.thread, task.worker, start_).first;
    row.idle += divided(i, found->second.second);
    found->second = {task.worker, task.end};
  }
  for (const auto& [thread, last] : busy) {
    Gap& idle = rows[last.first].idle;
    const double others = of_others(thread, last.second, end_);
    idle.others += others;
    idle.no_task += end_ - last.second - others;
  }
  std::vector<WorkerRow> result;
  for (auto& [name, row] : rows) {
    row.name = name;
    row.threads = threads[name].size();
    result.push_back(row);
  }
  std::ranges::stable_sort(result, std::greater(), &WorkerRow::in_tasks);
  return result;
}

std::vector<QueueRow> TaskGraph::queues() const {
  std::map<std::string, QueueRow> rows;
  for (const TaskRun& task : tasks_) {
    if (!task.queued) continue;
    QueueRow& row = rows[task.name];
    ++row.tasks;
    row.queued += *task.queued;
    row.longest = std::max(row.longest, *task.queued);
    row.fetched += std::min(task.fetched.value_or(0), *task.queued);
  }
  std::vector<QueueRow> result;
  for (auto& [name, row] : rows) {
    row.name = name;
    result.push_back(row);
  }
  std::ranges::stable_sort(result, std::greater(), &QueueRow::queued);
  return result;
}

}  // namespace timeloom::tools
