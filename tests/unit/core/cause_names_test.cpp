// Causes of waiting by the names of functions.

#include <gtest/gtest.h>

#include <optional>

#include "core/waiting/cause_names.hpp"

namespace timeloom {
namespace {

Region named(const char* name, Paradigm paradigm = Paradigm::kCompiler) {
  Region region;
  region.name = name;
  region.paradigm = paradigm;
  return region;
}

TEST(CauseNames, CountWhereTheSystemTellsLess) {
  const Region join = named("threading:Thread.join"), sleep = named("time.sleep");
  // A join waits at a lock, which the other thread releases.
  EXPECT_EQ(cause_in(join, WaitingCause::kLock), WaitingCause::kThread);
  EXPECT_EQ(cause_in(sleep, WaitingCause::kUnknown), WaitingCause::kTime);
  EXPECT_EQ(cause_in(sleep, WaitingCause::kLock), WaitingCause::kLock);
  EXPECT_EQ(cause_in(named("work"), WaitingCause::kUnknown), WaitingCause::kUnknown);
  EXPECT_EQ(cause_in(named("MPI_Recv", Paradigm::kMpi), WaitingCause::kIo), WaitingCause::kMessage);
  for (const Region& region : {join, sleep, named("MPI_Recv", Paradigm::kMpi)}) {
    EXPECT_EQ(cause_in(region, WaitingCause::kGil), WaitingCause::kGil);
    EXPECT_EQ(cause_in(region, WaitingCause::kProcessor), WaitingCause::kProcessor);
  }
}

TEST(CauseNames, OfAllRegionsAreInATable) {
  Definitions definitions;
  definitions.regions = {named("threading:Thread.join"), named("time.sleep"), named("work"),
                         named("MPI_Recv", Paradigm::kMpi)};
  const RegionCauses causes(definitions);
  for (std::uint32_t region = 0; region < definitions.regions.size(); ++region) {
    for (std::uint32_t seen = 0; seen < kWaitingCauses; ++seen) {
      EXPECT_EQ(causes.in(region, WaitingCause{seen}),
                cause_in(definitions.regions[region], WaitingCause{seen}));
    }
  }
}

TEST(CauseNames, TellWhereATaskHasNothingToDo) {
  EXPECT_TRUE(is_idle_suspension("asyncio.queues.Queue.get"));
  EXPECT_TRUE(is_idle_suspension("asyncio.queues.Queue:get"));
  EXPECT_FALSE(is_idle_suspension("asyncio.queues.Queue:put"));
}

TEST(CauseNames, TellTheCauseOfASuspension) {
  EXPECT_EQ(cause_of_suspension("asyncio.tasks.sleep"), WaitingCause::kTime);
  EXPECT_EQ(cause_of_suspension("asyncio.tasks:sleep"), WaitingCause::kTime);
  EXPECT_EQ(cause_of_suspension("asyncio.locks.Lock.acquire"), WaitingCause::kLock);
  EXPECT_EQ(cause_of_suspension("asyncio.streams.StreamReader._wait_for_data"), WaitingCause::kIo);
  EXPECT_EQ(cause_of_suspension("trio._timeouts.sleep_until"), WaitingCause::kTime);
  EXPECT_EQ(cause_of_suspension("trio._sync:Event.wait"), WaitingCause::kLock);
  EXPECT_EQ(cause_of_suspension("trio._core._traps.wait_task_rescheduled"), std::nullopt);
  EXPECT_EQ(cause_of_suspension("__main__.sleep"), std::nullopt);
  EXPECT_EQ(cause_of_suspension("my_asyncio.tasks.sleep"), std::nullopt);
}

}  // namespace
}  // namespace timeloom
