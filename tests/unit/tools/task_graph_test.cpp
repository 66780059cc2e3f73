// The critical path through tasks, what faster tasks gain, and for what workers waited.
#include "tools/report/engines/task_graph.hpp"

#include <gtest/gtest.h>

#include "tools/report/engines/task_transfers.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace timeloom::tools {
namespace {

TaskRun task(std::string key, std::uint64_t thread, double start, double end,
             std::vector<std::string> needs = {}) {
  TaskRun run;
  run.name = key.substr(0, key.find('-'));
  run.key = std::move(key);
  run.worker = "w" + std::to_string(thread);
  run.thread = thread;
  run.process = static_cast<std::uint32_t>(thread);
  run.start = start;
  run.end = end;
  run.needs = std::move(needs);
  return run;
}

TaskRun queued(TaskRun run, double queued, double fetched = 0) {
  run.queued = queued;
  if (fetched > 0) run.fetched = fetched;
  return run;
}

std::vector<std::string> keys(const TaskGraph& graph) {
  std::vector<std::string> keys;
  for (const std::size_t i : graph.path()) keys.push_back(graph.tasks()[i].key);
  return keys;
}

using Keys = std::vector<std::string>;

// Two loads, of which the second is slow; what takes both; on the other thread nothing more.
TEST(TaskGraph, FollowsTheValuesThatCameLast) {
  const TaskGraph graph({task("sum-1", 1, 9, 12, {"load-1", "load-2"}), task("load-1", 1, 0, 3),
                         task("load-2", 2, 0, 8)},
                        {});
  EXPECT_TRUE(graph.has_needs());
  EXPECT_EQ(keys(graph), (Keys{"load-2", "sum-1"}));
  EXPECT_EQ(graph.link_of(graph.path()[1]).after, After::kValue);
  const std::vector<PathRow> rows = graph.path_rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "load");
  EXPECT_DOUBLE_EQ(rows[0].seconds, 8);
  EXPECT_DOUBLE_EQ(rows[0].gained.value(), 4);
  EXPECT_EQ(rows[1].name, "sum");
  EXPECT_DOUBLE_EQ(rows[1].before, 1);
  EXPECT_DOUBLE_EQ(rows[1].gained.value(), 1.5);
}

// Halving the longest task gains no more than the next one allows.
TEST(TaskGraph, GainsWhatTheOtherTasksAllow) {
  const TaskGraph graph(
      {task("a-1", 1, 0, 8), task("b-1", 2, 0, 7), task("c-1", 1, 8, 9, {"a-1", "b-1"})}, {});
  EXPECT_EQ(keys(graph), (Keys{"a-1", "c-1"}));
  EXPECT_DOUBLE_EQ(graph.path_rows()[0].gained.value(), 1);
}

TEST(TaskGraph, FollowsTheThreadWhereNoValueIsTaken) {
  const TaskGraph graph({task("a-1", 1, 0, 4), task("a-2", 1, 4.5, 6), task("a-3", 2, 0, 5)}, {});
  EXPECT_FALSE(graph.has_needs());
  EXPECT_EQ(keys(graph), (Keys{"a-1", "a-2"}));
  EXPECT_EQ(graph.link_of(graph.path()[1]).after, After::kThread);
  EXPECT_DOUBLE_EQ(graph.path_rows()[0].gained.value(), 2.75);
}

// The program waits for all tasks before it asks for more: the slowest of them holds all up.
TEST(TaskGraph, FollowsTheLastOfAllBeforeAPause) {
  const TaskGraph graph({task("a-1", 1, 0, 2), task("a-2", 2, 0, 6), task("b-1", 1, 7, 9)}, {});
  EXPECT_EQ(keys(graph), (Keys{"a-2", "b-1"}));
  EXPECT_EQ(graph.link_of(graph.path()[1]).after, After::kAllOthers);
  EXPECT_DOUBLE_EQ(graph.path_rows()[0].gained.value(), 3);
}

// A task that was at its worker before the pause did not wait for the program.
TEST(TaskGraph, FollowsNoPauseThatATaskWasThereBefore) {
  const TaskGraph graph(
      {task("a-1", 1, 0, 2), task("a-2", 2, 0, 6), queued(task("b-1", 1, 7, 9, {"a-1"}), 5, 4.5)},
      {});
  EXPECT_EQ(keys(graph), (Keys{"a-1", "b-1"}));
  EXPECT_EQ(graph.link_of(graph.path()[1]).after, After::kValue);
  EXPECT_DOUBLE_EQ(graph.gap_of(graph.path()[1]).data, 4.5);
}

// More rows than gains are computed for.
TEST(TaskGraph, TellsTheGainOfTheLongestRowsAlone) {
  std::vector<TaskRun> tasks;
  double start = 0;
  for (std::size_t i = 0; i < TaskGraph::kMostGains + 1; ++i) {
    const double length = static_cast<double>(i + 1);
    tasks.push_back(task("t" + std::to_string(i) + "-1", 1, start, start + length));
    start += length;
  }
  const std::vector<PathRow> rows = TaskGraph(tasks, {}).path_rows();
  ASSERT_EQ(rows.size(), TaskGraph::kMostGains + 1);
  EXPECT_EQ(rows.back().name, "t0");
  EXPECT_FALSE(rows.back().gained);
  EXPECT_DOUBLE_EQ(rows[TaskGraph::kMostGains - 1].gained.value(), 1);
}

// A value of a task that ran twice was made by the run before its use.
TEST(TaskGraph, TakesTheRunThatMadeTheValue) {
  const TaskGraph graph({task("a-1", 1, 0, 2), task("b-1", 2, 3, 4, {"a-1"}), task("a-1", 1, 5, 7),
                         task("c-1", 3, 8, 9, {"a-1", "b-1", "unknown"})},
                        {});
  EXPECT_EQ(keys(graph), (Keys{"a-1", "b-1", "a-1", "c-1"}));
}

// Its thread has run tasks of another client between two tasks, and after the last one.
TEST(TaskGraph, TellsTheTimeOfOtherClients) {
  const TaskGraph graph(
      {task("a-1", 1, 0, 2), queued(task("b-1", 1, 10, 12), 6, 2), task("c-1", 2, 0, 15)}, {},
      {{"w1", 1, 12, 14}, {"w1", 1, 3, 5}, {"w1", 1, 9, 10}, {"w3", 3, 0, 15}});
  const std::vector<WorkerRow> rows = graph.workers();
  ASSERT_EQ(rows.size(), 2u);
  const Gap& idle = rows[1].idle;
  EXPECT_DOUBLE_EQ(idle.others, 5);
  EXPECT_DOUBLE_EQ(idle.no_task, 2);  // from 2 to 3, and from 14 on
  EXPECT_DOUBLE_EQ(idle.data, 1);     // from 5 to 6
  EXPECT_DOUBLE_EQ(idle.worker, 3);   // from 6 to 9
  EXPECT_DOUBLE_EQ(rows[1].in_tasks + idle.sum(), 15);
  EXPECT_DOUBLE_EQ(rows[0].idle.sum(), 0);
}

// A coroutine of another client takes the place of a thread, on whatever location it is.
TEST(TaskGraph, GivesCoroutinesOfOtherClientsAPlace) {
  const TaskGraph graph({task("a-1", 1, 0, 2), task("b-1", 1, 5, 6)}, {}, {{"w1", 9, 3, 4, true}});
  const std::vector<WorkerRow> rows = graph.workers();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].threads, 1u);
  EXPECT_DOUBLE_EQ(rows[0].idle.others, 1);
  EXPECT_DOUBLE_EQ(rows[0].idle.sum(), 3);
}

TEST(TaskGraph, LeavesOutTasksWithinTasks) {
  const TaskGraph graph({task("a-1", 1, 0, 5), task("inner-1", 1, 1, 2), task("b-1", 1, 5, 6)}, {});
  EXPECT_EQ(keys(graph), (Keys{"a-1", "b-1"}));
  EXPECT_EQ(graph.tasks().size(), 2u);
}

TEST(TaskGraph, OfNoTasksIsEmpty) {
  const TaskGraph graph({}, {});
  EXPECT_TRUE(graph.path().empty());
  EXPECT_TRUE(graph.path_rows().empty());
  EXPECT_TRUE(graph.workers().empty());
}

// The value is made at 4, the task comes at 5, its values at 7, it starts at 9.
TEST(TaskGraph, TellsWhyAWorkerHadNothingToDo) {
  const TaskGraph graph(
      {task("a-1", 1, 0, 4), task("b-1", 2, 0, 1), queued(task("c-1", 2, 9, 10, {"a-1"}), 4, 2)},
      {{2, 6.5, 8}});
  const std::vector<WorkerRow> workers = graph.workers();
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0].name, "w1");
  EXPECT_DOUBLE_EQ(workers[0].idle.no_task, 6);
  const Gap& idle = workers[1].idle;
  EXPECT_DOUBLE_EQ(workers[1].in_tasks, 2);
  EXPECT_DOUBLE_EQ(idle.no_task, 3);
  EXPECT_DOUBLE_EQ(idle.scheduler, 1);
  EXPECT_DOUBLE_EQ(idle.data + idle.worker, 2.5);
  EXPECT_DOUBLE_EQ(idle.spilling, 1.5);
  EXPECT_DOUBLE_EQ(idle.sum(), 8);
}

// A long time of spilling that began first, and others that have ended, or are another process's.
TEST(TaskGraph, CountsTheSpillingOfAGap) {
  const TaskGraph graph(
      {task("a-1", 2, 0, 1), queued(task("b-1", 2, 9, 10), 8), task("c-1", 1, 0, 10)},
      {{2, 1.5, 2}, {2, 0, 3}, {2, 0.2, 0.8}, {1, 4, 6}, {2, 7, 7.5}, {2, 9, 11}});
  EXPECT_DOUBLE_EQ(graph.gap_of(2).spilling, 3);
  EXPECT_DOUBLE_EQ(graph.gap_of(2).sum(), 8);
}

TEST(TaskGraph, TellsWhatItDoesNotKnow) {
  const TaskGraph graph({task("a-1", 1, 0, 4), task("b-1", 2, 6, 7, {"a-1"})}, {});
  const Gap gap = graph.gap_of(1);
  EXPECT_DOUBLE_EQ(gap.unknown, 2);
  EXPECT_DOUBLE_EQ(gap.sum(), 2);
  EXPECT_TRUE(graph.queues().empty());
}

TEST(TaskGraph, SumsQueuesByName) {
  const TaskGraph graph({queued(task("a-1", 1, 2, 4), 1), queued(task("a-2", 1, 4, 5), 3, 2),
                         queued(task("b-1", 1, 6, 7), 0.5)},
                        {});
  const std::vector<QueueRow> rows = graph.queues();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].tasks, 2u);
  EXPECT_DOUBLE_EQ(rows[0].queued, 4);
  EXPECT_DOUBLE_EQ(rows[0].longest, 3);
  EXPECT_DOUBLE_EQ(rows[0].fetched, 2);
}

// Celery: a task was asked for, came to its worker, and waited there for a thread.
TEST(TaskGraph, TellsTheBrokerFromTheWorker) {
  TaskRun late = queued(task("b-1", 1, 9, 10), 5);
  late.at_worker = 2;
  const TaskGraph graph({task("a-1", 1, 0, 3), late}, {});
  const Gap gap = graph.gap_of(1);
  EXPECT_DOUBLE_EQ(gap.no_task, 1);  // until somebody asked for it
  EXPECT_DOUBLE_EQ(gap.scheduler, 3);
  EXPECT_DOUBLE_EQ(gap.worker, 2);
  EXPECT_DOUBLE_EQ(gap.unknown, 0);
}

// Ray: the first run of a task counts from its request on, and each run takes its values.
TEST(TaskGraph, TakesRequestsFromOtherProcesses) {
  std::vector<TaskRun> tasks = {task("sum-1", 1, 9, 10), task("load-1", 2, 2, 5),
                                task("sum-1", 1, 6, 7)};
  add_requests(tasks, {{"sum-1", {4, {"load-1"}}}, {"load-1", {3, {}}}, {"other-1", {0, {}}}});
  EXPECT_FALSE(tasks[0].queued);
  EXPECT_FALSE(tasks[1].queued);  // before the request: another clock
  EXPECT_DOUBLE_EQ(tasks[2].queued.value(), 2);
  EXPECT_DOUBLE_EQ(tasks[2].at_worker.value(), 0);
  EXPECT_EQ(tasks[0].needs, Keys{"load-1"});
  EXPECT_EQ(tasks[2].needs, Keys{"load-1"});
  const TaskGraph graph(std::move(tasks), {});
  EXPECT_TRUE(graph.has_needs());
  EXPECT_EQ(graph.link_of(1).after, After::kValue);
  EXPECT_DOUBLE_EQ(graph.gap_of(1).scheduler, 1);
  EXPECT_DOUBLE_EQ(graph.gap_of(1).no_task, 0);
}

TEST(TaskGraph, TellsThatValuesOfRequestsAreLeftOut) {
  const TaskRequests requests = {{"sum-1", {4, {"load-1", "load-2"}}}};
  for (const std::size_t most : {std::size_t{4}, std::size_t{3}}) {
    std::vector<TaskRun> tasks = {task("sum-1", 1, 6, 7), task("sum-1", 1, 9, 10)};
    EXPECT_EQ(add_requests(tasks, requests, most), most == 4);
    EXPECT_EQ(tasks[0].needs.size(), 2u);
    EXPECT_EQ(tasks[1].needs.size(), most == 4 ? 2u : 0u);
  }
}

TaskRun of_spark(TaskRun run) {
  run.of_spark = true;
  return run;
}

// Two sessions with the same keys; a task that no session has told of; one of another engine.
TEST(TaskGraph, TakesTheTimesThatSparkTells) {
  std::vector<TaskRun> tasks = {of_spark(task("0", 1, 3, 4)),  of_spark(task("0", 1, 13, 14)),
                                of_spark(task("0", 1, 9, 10)), of_spark(task("0", 1, 30, 31)),
                                of_spark(task("1", 1, 5, 6)),  task("0", 1, 3, 4),
                                of_spark(task("0", 1, 0.5, 1))};
  add_times(tasks, {{"0", {11, 12, 20}}, {"0", {1, 2.5, 8}}, {"1", {4, 5.001, 8}}});
  const std::vector<std::optional<double>> queued = {2, 2, {}, {}, 1, {}, {}};
  const std::vector<std::optional<double>> at_worker = {0.5, 1, {}, {}, 0, {}, {}};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(tasks[i].queued, queued[i]) << i;
    EXPECT_EQ(tasks[i].at_worker, at_worker[i]) << i;
  }
}

TaskRun coroutine(TaskRun run) {
  run.worker = "w";
  run.on_lane = true;
  return run;
}

// A worker with two places: a thread and two lanes, of which at most two have a task at a time.
TEST(TaskGraph, CountsTheIdleTimeOfPlacesRatherThanOfLanes) {
  TaskRun plain = task("c-1", 3, 4, 10);
  plain.worker = "w";
  const TaskGraph graph({coroutine(task("a-1", 1, 0, 4)), coroutine(task("a-2", 2, 1, 5)), plain,
                         coroutine(task("a-3", 1, 6, 8)), task("other", 9, 0, 10)},
                        {});
  const std::vector<WorkerRow> workers = graph.workers();
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0].name, "w");
  EXPECT_EQ(workers[0].threads, 2u);
  EXPECT_EQ(workers[0].tasks, 4u);
  EXPECT_DOUBLE_EQ(workers[0].in_tasks, 16);
  EXPECT_DOUBLE_EQ(workers[0].idle.sum(), 4);
  EXPECT_EQ(workers[1].threads, 1u);
  EXPECT_DOUBLE_EQ(workers[1].idle.sum(), 0);
}

// Two that overlap, one within them, and one later; another worker.
TEST(Transfers, TellsTheTimeInWhichAnyOfThemRan) {
  const std::vector<TransferRow> rows = transfer_rows({{"a", 7, 8, 1, 5},
                                                       {"a", 1, 4, 2, 10},
                                                       {"a", 2, 5, 1, 20},
                                                       {"b", 0, 1.5, 1, 30},
                                                       {"a", 3, 3.5, 1, 40}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].worker, "a");
  EXPECT_EQ(rows[0].transfers, 4u);
  EXPECT_EQ(rows[0].keys, 5u);
  EXPECT_EQ(rows[0].bytes, 75u);
  EXPECT_DOUBLE_EQ(rows[0].any, 5);
  EXPECT_DOUBLE_EQ(rows[0].total, 7.5);
  EXPECT_DOUBLE_EQ(rows[0].longest, 3);
  EXPECT_DOUBLE_EQ(rows[1].any, 1.5);
}

TEST(Scheduler, CountsTheWorkBetweenTwoTimes) {
  const SchedulerWork work = scheduler_work({{0, 1}, {1.5, 3}, {4, 5}, {9, 12}, {13, 14}}, 2, 10);
  EXPECT_EQ(work.times, 3u);
  EXPECT_DOUBLE_EQ(work.busy, 3);
  EXPECT_DOUBLE_EQ(work.longest, 1);
}

TEST(Scheduler, IsTheBusiestOfSeveral) {
  const SchedulerWork work = scheduler_work({{0, 4, 1}, {1, 8, 2}, {5, 8, 1}, {8, 9, 2}}, 0, 9);
  EXPECT_EQ(work.times, 2u);
  EXPECT_DOUBLE_EQ(work.busy, 8);
  EXPECT_DOUBLE_EQ(work.longest, 7);
  EXPECT_EQ(scheduler_work({}, 0, 9).times, 0u);
}

TEST(TaskGraph, SeesClocksThatDiffer) {
  const TaskGraph graph({task("a-1", 1, 0, 3), task("b-1", 2, 2.9995, 4, {"a-1"})}, {});
  EXPECT_TRUE(graph.has_needs());
  EXPECT_NEAR(graph.backwards(), 0.0005, 1e-9);
  EXPECT_DOUBLE_EQ(TaskGraph({task("a-1", 1, 0, 3), task("b-1", 2, 3, 4, {"a-1"})}, {}).backwards(),
                   0);
}

}  // namespace
}  // namespace timeloom::tools
