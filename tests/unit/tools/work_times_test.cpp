#include "tools/work_times.hpp"

#include <gtest/gtest.h>

#include "profile/story.hpp"

namespace timeloom::tools {
namespace {

// Ticks are milliseconds; the regions of these names are those of tasks.
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

TEST(WorkTimes, AFunctionOnALaneMayBeCalledTask) {
  EXPECT_DOUBLE_EQ(work_times(tree_of_tasks("app.py"), {}).all_working, 0.11);
}

}  // namespace
}  // namespace timeloom::tools
