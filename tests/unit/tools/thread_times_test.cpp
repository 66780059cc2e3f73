// How many threads worked at once, and the threads that worked while others waited.
#include "tools/report/threads/thread_times.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "profile/story.hpp"

namespace timeloom::tools {
namespace {

// A thread that enters a region at 0 and has these times in it: until when, and how many
// milliseconds of the time since the last it waited for what.
struct Part {
  std::uint64_t until;
  std::uint64_t waited = 0;
  WaitingCause cause = WaitingCause::kUnknown;
};

// Ticks are milliseconds; the run is 1,000 long.
Parallel parallel_of(const std::vector<std::vector<Part>>& threads, bool measured = true,
                     const std::string& region = "f", std::uint32_t processes = 1) {
  Definitions definitions;
  definitions.clock = {1000, 100, 1000, {}};
  if (measured) {
    definitions.metrics = {waiting_metric(), cause_metric(WaitingCause::kGil)};
  }
  Region known;
  known.name = known.canonical_name = region;
  known.group = region.substr(0, region.find('.'));
  known.file = region == "f" ? "/app/f.py" : "";  // of the project
  definitions.regions.push_back(known);
  std::set<LocationId> all;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    Location location;
    location.id = LocationId{i};
    location.name = "t" + std::to_string(i);
    location.group = LocationGroupId{static_cast<std::uint32_t>(i) % processes};
    definitions.locations.push_back(location);
    all.insert(location.id);
  }
  for (std::uint32_t i = 0; i < processes; ++i) {
    definitions.groups.emplace_back().name = "p" + std::to_string(i);
  }
  ThreadTimes times(all);
  times.begin(definitions);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const auto sink = times.open_location(definitions.locations[i]);
    for (std::uint64_t last = 100; const Part& part : threads[i]) {
      const std::vector<Event> events = {
          {Timestamp{last}, EventKind::kEnter, 0, 0},
          {Timestamp{last}, EventKind::kWaiting, static_cast<std::uint32_t>(part.cause),
           part.waited * 1'000'000},
          {Timestamp{100 + part.until}, EventKind::kLeave, 0, 0}};
      sink->consume(events);
      last = 100 + part.until;
    }
    sink->finish();
  }
  times.finish();
  return times.parallel();
}

void expect_shares(const Parallel& parallel, const std::vector<double>& shares) {
  ASSERT_EQ(parallel.shares.size(), shares.size());
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_NEAR(parallel.shares[i], shares[i], 1e-5) << i;
    sum += parallel.shares[i] * static_cast<double>(i);
  }
  EXPECT_NEAR(parallel.average, sum, 1e-5);
}

TEST(ThreadTimes, TellHowManyThreadsWorkedAtOnce) {
  expect_shares(parallel_of({{{1000}}, {{500}}}), {0, 0.5, 0.5});
  expect_shares(parallel_of({{{250}}, {{1000, 1000}}}), {0.75, 0.25});
  // Half of the time, spread evenly: both together are always one.
  expect_shares(parallel_of({{{1000, 500}}, {{1000, 500}}}), {0, 1});
  expect_shares(parallel_of({{{1000, 800}}}), {0.8, 0.2});
}

TEST(ThreadTimes, AreOfTheRunAlone) {
  expect_shares(parallel_of({{{5000}}}), {0, 1});
  EXPECT_DOUBLE_EQ(parallel_of({{{5000}}}).threads.front().working, 1);
}

TEST(ThreadTimes, TellWhoWorkedWhileOthersWaited) {
  const auto gil = WaitingCause::kGil;
  // 0 works in the first half, 1 in the second; each waits for the other.
  const Parallel parallel = parallel_of({{{500}, {1000, 500, gil}}, {{500, 500, gil}, {1000}}});
  expect_shares(parallel, {0, 1});
  ASSERT_EQ(parallel.held.size(), 1u);
  EXPECT_EQ(parallel.held.front().cause, gil);
  EXPECT_NEAR(parallel.held.front().waiting, 1, 1e-9);
  ASSERT_EQ(parallel.held.front().by.size(), 2u);
  for (const HeldBack::By& by : parallel.held.front().by) EXPECT_NEAR(by.seconds, 0.5, 1e-6);
}

TEST(ThreadTimes, NameOneThreadThatHoldsAllOthersBack) {
  const auto lock = WaitingCause::kLock;
  const Parallel parallel = parallel_of({{{1000}}, {{1000, 1000, lock}}, {{1000, 1000, lock}}});
  ASSERT_EQ(parallel.held.size(), 1u);
  ASSERT_EQ(parallel.held.front().by.size(), 1u);
  EXPECT_EQ(parallel.held.front().by.front().name, "t0");
  EXPECT_NEAR(parallel.held.front().by.front().seconds, 2, 1e-6);
}

TEST(ThreadTimes, OfOtherProcessesHoldNobodyBack) {
  const Parallel parallel =
      parallel_of({{{1000}}, {{1000, 1000, WaitingCause::kGil}}}, true, "f", 2);
  ASSERT_EQ(parallel.held.size(), 1u);
  EXPECT_TRUE(parallel.held.front().by.empty());
}

// t0 and t2 are of p0, t1 and t3 of p1; in each process the first thread holds up the second.
TEST(ThreadTimes, NameTheProcessWhereThereAreSeveral) {
  const auto lock = WaitingCause::kLock;
  const Parallel parallel =
      parallel_of({{{1000}}, {{500}}, {{1000, 1000, lock}}, {{500, 500, lock}}}, true, "f", 2);
  std::vector<std::string> names;
  for (const ThreadRow& row : parallel.threads) names.push_back(row.name);
  EXPECT_EQ(names, (std::vector<std::string>{"t0 of p0", "t1 of p1", "t2 of p0", "t3 of p1"}));
  ASSERT_EQ(parallel.held.size(), 1u);
  ASSERT_EQ(parallel.held.front().by.size(), 2u);
  EXPECT_EQ(parallel.held.front().by[0].name, "t0 of p0");
  EXPECT_EQ(parallel.held.front().by[1].name, "t1 of p1");
  EXPECT_NEAR(parallel.held.front().by[1].seconds, 0.5, 1e-6);
}

// Threads of a pool that nobody gives work wait in functions of libraries alone.
TEST(ThreadTimes, SetThreadsApartThatHadNothingToDo) {
  Definitions definitions;
  definitions.clock = {1000, 100, 1000, {}};
  definitions.metrics = {waiting_metric(), cause_metric(WaitingCause::kLock)};
  definitions.regions.resize(2);
  definitions.regions[0].name = "f";
  definitions.regions[0].file = "/app/f.py";
  definitions.regions[1].name = "get";
  definitions.groups.resize(1);
  definitions.locations.resize(3);
  for (std::uint64_t i = 0; i < 3; ++i) {
    definitions.locations[i].id = LocationId{i};
    definitions.locations[i].group = LocationGroupId{0};
    definitions.locations[i].name = "t" + std::to_string(i);
  }
  ThreadTimes times({LocationId{0}, LocationId{1}, LocationId{2}});
  times.begin(definitions);
  constexpr auto kLock = static_cast<std::uint32_t>(WaitingCause::kLock);
  // 0 has nothing to do; 1 waits below a function of the project; 2 works for 20 ms.
  const std::vector<std::vector<Event>> events = {
      {{Timestamp{100}, EventKind::kEnter, 1, 0},
       {Timestamp{1100}, EventKind::kWaiting, kLock, 995'000'000},
       {Timestamp{1100}, EventKind::kLeave, 1, 0}},
      {{Timestamp{100}, EventKind::kEnter, 0, 0},
       {Timestamp{100}, EventKind::kEnter, 1, 0},
       {Timestamp{1100}, EventKind::kWaiting, kLock, 1'000'000'000},
       {Timestamp{1100}, EventKind::kLeave, 1, 0},
       {Timestamp{1100}, EventKind::kLeave, 0, 0}},
      {{Timestamp{100}, EventKind::kEnter, 1, 0},
       {Timestamp{1100}, EventKind::kWaiting, kLock, 980'000'000},
       {Timestamp{1100}, EventKind::kLeave, 1, 0}}};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto sink = times.open_location(definitions.locations[i]);
    sink->consume(events[i]);
    sink->finish();
  }
  const Parallel parallel = times.parallel();
  std::vector<std::pair<std::string, bool>> rows;
  for (const ThreadRow& row : parallel.threads) rows.emplace_back(row.name, row.idle);
  EXPECT_EQ(rows, (std::vector<std::pair<std::string, bool>>{
                      {"t2", false}, {"t1", false}, {"t0", true}}));
  ASSERT_EQ(parallel.held.size(), 1u);
  EXPECT_NEAR(parallel.held.front().waiting, 1.98, 1e-9);
}

TEST(ThreadTimes, CountAMissingProcessor) {
  const Parallel parallel = parallel_of({{{1000, 400, WaitingCause::kProcessor}}});
  ASSERT_EQ(parallel.held.size(), 1u);
  EXPECT_EQ(parallel.held.front().cause, WaitingCause::kProcessor);
  EXPECT_NEAR(parallel.held.front().waiting, 0.4, 1e-9);
  EXPECT_TRUE(parallel.held.front().by.empty());
}

TEST(ThreadTimes, GoByNamesWhereWaitingWasNotMeasured) {
  const Parallel parallel = parallel_of({{{1000}}}, false, "time.sleep");
  EXPECT_FALSE(parallel.measured);
  expect_shares(parallel, {1});
  EXPECT_NEAR(parallel.threads.front().causes[WaitingCause::kTime], 1, 1e-9);
}

TEST(ThreadTimes, LeaveOutTimeInWhichNothingWasRecorded) {
  profile::Story story;
  story.thread("main", "f +10 off +80 on +10 )");
  story.definitions().clock = {1000, 100, 100, {}};
  ThreadTimes times({LocationId{0}});
  times.begin(story.definitions());
  story.replay(times);
  expect_shares(times.parallel(), {0.8, 0.2});
}

TEST(ThreadTimes, NeedTheLengthOfTheRun) {
  profile::Story story;
  story.thread("main", "f +10 )");
  ThreadTimes times({});
  EXPECT_ANY_THROW(times.begin(story.definitions()));
}

// Two collections of 100 ms in the first thread, one of 50 in the second; a process with a single
// thread has none that holds others up.
TEST(ThreadTimes, TellCollectionsOfProcessesWithSeveralThreads) {
  const std::vector<std::vector<Part>> threads = {{{100}, {200}}, {{50}}};
  const Parallel together = parallel_of(threads, true, "gc.collect");
  EXPECT_EQ(together.collections.count, 3u);
  EXPECT_NEAR(together.collections.seconds, 0.25, 1e-9);
  EXPECT_NEAR(together.collections.longest, 0.1, 1e-9);
  ASSERT_EQ(together.collections.by.size(), 2u);
  EXPECT_EQ(together.collections.by[0].name, "t0");
  EXPECT_NEAR(together.collections.by[0].seconds, 0.2, 1e-9);
  EXPECT_EQ(parallel_of(threads, true, "gc.collect", 2).collections.count, 0u);
  EXPECT_EQ(parallel_of(threads, true, "f").collections.count, 0u);
}

// gc.collect() as a C function: a collection within the call of the function.
TEST(ThreadTimes, CountACollectionThatWasAskedForOnce) {
  Definitions definitions;
  definitions.clock = {1000, 100, 1000, {}};
  Region collect;
  collect.name = collect.canonical_name = "gc.collect";
  collect.group = "gc";
  definitions.regions = {collect, collect};
  definitions.locations.resize(2);
  for (std::uint64_t i = 0; i < 2; ++i) {
    definitions.locations[i].id = LocationId{i};
    definitions.locations[i].group = LocationGroupId{0};
    definitions.locations[i].name = "t" + std::to_string(i);
  }
  definitions.groups.resize(1);
  ThreadTimes times({LocationId{0}, LocationId{1}});
  times.begin(definitions);
  const auto first = times.open_location(definitions.locations[0]);
  const std::vector<Event> events = {{Timestamp{100}, EventKind::kEnter, 0, 0},
                                     {Timestamp{110}, EventKind::kEnter, 1, 0},
                                     {Timestamp{190}, EventKind::kLeave, 1, 0},
                                     {Timestamp{200}, EventKind::kLeave, 0, 0}};
  first->consume(events);
  first->finish();
  times.open_location(definitions.locations[1])->finish();
  const Collections collections = times.parallel().collections;
  EXPECT_EQ(collections.count, 1u);
  EXPECT_NEAR(collections.seconds, 0.1, 1e-9);
  EXPECT_NEAR(collections.longest, 0.1, 1e-9);
}

}  // namespace
}  // namespace timeloom::tools
