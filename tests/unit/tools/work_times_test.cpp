#include "tools/report/work_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/waiting_metric.hpp"
#include "profile/story.hpp"

namespace timeloom::tools {
namespace {

// Ticks are milliseconds; regions with these names belong to tasks.
profile::CallTree tree_of_tasks(const std::string& file = {}) {
  profile::Story story;
  story.thread("main", "loop +10 task +50 ) )");
  story.thread("coroutine", "work +50 suspended +20 ) )");
  story.definitions().clock.ticks_per_second = 1000;
  for (Region& region : story.definitions().regions) {
    if (region.name != "task" && region.name != "suspended") continue;
    region.paradigm = Paradigm::kMeasurement;
    region.file = file;
  }
  return story.fold();
}

TEST(WorkTimes, TheTimeOfATaskCountsOnItsOwnLocation) {
  for (const auto& cost : {std::optional<CallCost>(), std::optional<CallCost>(CallCost())}) {
    const WorkTimes times = work_times(tree_of_tasks(), {}, cost);
    EXPECT_DOUBLE_EQ(times.all_working, 0.06);
    EXPECT_DOUBLE_EQ(times.all_waiting, 0.02);
  }
}

// Of the functions of the event loop's library, the outermost that tells its purpose counts.
TEST(WorkTimes, ASuspendedTaskWaitsForTheThingThatItAwaits) {
  const std::pair<std::string, WaitingCause> known[] = {
      {"asyncio.tasks.sleep", WaitingCause::kTime},
      {"trio._subprocess.Process.wait trio._core._generated_io_epoll.wait_readable "
       "trio._core._traps.wait_task_rescheduled",
       WaitingCause::kThread},
      {"trio._sync.Event.wait trio._core._traps.wait_task_rescheduled", WaitingCause::kLock},
      {"asyncio.tasks.sleep app.call", WaitingCause::kUnknown},
      {"app.future", WaitingCause::kUnknown}};
  for (const auto& [functions, cause] : known) {
    profile::Story story;
    std::string closed;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(std::ranges::count(functions, ' ')); ++i)
      closed += " )";
    story.thread("t", "app.main +5 " + functions + " suspended +20 )" + closed + " )");
    story.definitions().clock.ticks_per_second = 1000;
    for (Region& region : story.definitions().regions) {
      if (region.name == kSuspended) region.paradigm = Paradigm::kMeasurement;
    }
    const WorkTimes times = work_times(story.fold(), {});
    EXPECT_DOUBLE_EQ(times.all_causes.all(), 0.02) << functions;
    EXPECT_DOUBLE_EQ(times.all_causes[cause], 0.02) << functions;
  }
}

// Whatever a CPU clock shows: threads may spin there.
TEST(WorkTimes, AThreadThatWaitsForItsTeamDoesNotWork) {
  profile::Story story;
  story.thread("main", "parallel +30 barrier +20 ) )");
  story.definitions().clock.ticks_per_second = 1000;
  for (const bool measured : {false, true}) {
    if (measured) story.definitions().metrics.push_back(waiting_metric());
    const WorkTimes times = work_times(story.fold(), {});
    EXPECT_EQ(times.measured, measured);
    EXPECT_DOUBLE_EQ(times.all_working, 0.03);
    EXPECT_DOUBLE_EQ(times.all_waiting, 0.02);
  }
}

// Differences of clocks do not count as work; where waiting was not measured, there is no
// difference.
TEST(WorkTimes, ARestOfWaitingIsNoWork) {
  for (const auto& [rest, work] :
       {std::pair{1u, 0.0}, std::pair{900u, 0.0}, std::pair{5000u, 5e-6}}) {
    profile::Story story;
    story.thread("main",
                 "waiting#0 sleep +1000000 waiting#" + std::to_string(1000000 - rest) + " )");
    Metric& metric = story.definitions().metrics.front();
    EXPECT_NEAR(work_times(story.fold(), {}).all_working, 1e-3, 1e-12);
    metric = waiting_metric();
    const WorkTimes times = work_times(story.fold(), {});
    EXPECT_NEAR(times.all_working, work, 1e-12);
    EXPECT_NEAR(times.working.front(), work, 1e-12);
    EXPECT_NEAR(times.all_waiting, 1e-3 - rest * 1e-9, 1e-12);
  }
}

TEST(WorkTimes, WhatNobodyHasMeasuredCountsWhereItWasCalled) {
  profile::Story story;
  story.thread("main", "main +5 f +10 unmeasured +50 ) ) )");
  story.definitions().clock.ticks_per_second = 1000;
  for (Region& region : story.definitions().regions) {
    if (region.name == "unmeasured") region.paradigm = Paradigm::kMeasurement;
  }
  for (const auto& cost : {std::optional<CallCost>(), std::optional<CallCost>(CallCost())}) {
    const WorkTimes times = work_times(story.fold(), {}, cost);
    EXPECT_DOUBLE_EQ(times.all_working, 0.015);
    EXPECT_DOUBLE_EQ(times.all_waiting, 0);
    EXPECT_DOUBLE_EQ(times.all_unmeasured, 0.05);
    EXPECT_EQ(times.unmeasured, (std::vector<double>{0, 0.05, 0}));
    EXPECT_EQ(times.visits, (std::vector<std::int64_t>{1, 1, 0}));
  }
}

TEST(WorkTimes, AFunctionOnALaneMayBeCalledTask) {
  EXPECT_DOUBLE_EQ(work_times(tree_of_tasks("app.py"), {}).all_working, 0.11);
}

}  // namespace
}  // namespace timeloom::tools
