// Measurements as a whole: start, end, definitions, forks.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "core/cpu_times.hpp"
#include "core/error.hpp"
#include "record_fixture.hpp"

namespace timeloom::record {
namespace {

class MeasurementTest : public RecordTest {};

TEST_F(MeasurementTest, SaysWhatItMeasured) {
  begin();
  enter(region("f"));
  EXPECT_EQ(totals().events, 1u);
  const Recorded found = end();
  EXPECT_EQ(found.definitions.process.name, "test");
  EXPECT_EQ(found.definitions.properties.at("key"), "value");
  EXPECT_EQ(found.definitions.threads.at(0).name, "Master thread");
  EXPECT_GE(found.definitions.clock_syncs.size(), 2u);
  EXPECT_TRUE(found.definitions.ended);
  EXPECT_EQ(found.damage, 0u);
  EXPECT_EQ(totals_.threads, 1u);
  EXPECT_EQ(totals_.lost_events, 0u);
  EXPECT_EQ(totals_.error, 0);
}

TEST_F(MeasurementTest, EventsLieBetweenItsFirstAndLastComparisonOfClocks) {
  begin();
  enter(region("f"));
  stop();
  const auto reader = spool::Reader::open(path());
  auto events = reader->read(0);
  std::vector<Event> batch;
  ASSERT_TRUE(events.next(batch));
  const auto& syncs = reader->definitions().clock_syncs;
  EXPECT_GE(ticks(batch[0].time), syncs.front().ticks);
  EXPECT_LE(ticks(batch[0].time), syncs.back().ticks);
}

TEST_F(MeasurementTest, OneAtATimeButAnyNumberInTurn) {
  const EventWord early = region("defined before");
  for (int i = 0; i < 3; ++i) {
    begin();
    EXPECT_THROW(begin(), Error);
    enter(early);
    leave(early);
    EXPECT_EQ(end().threads[0], (Lines{"enter defined before", "leave defined before"}));
    next_spool();
  }
}

TEST_F(MeasurementTest, ThatCannotStartLeavesNothingRunning) {
  StartOptions options;
  options.spool_directory = directory_ / "no" + "/such/directory";
  EXPECT_THROW(start(options), Error);
  EXPECT_FALSE(active());
  begin();
  EXPECT_TRUE(active());
}

TEST_F(MeasurementTest, ItsEndLeavesWhatThisThreadHasOpen) {
  begin();
  const EventWord f = region("f"), g = region("g");
  enter(f);
  enter(g);
  EXPECT_EQ(end().threads[0], (Lines{"enter f", "enter g", "leave g", "leave f"}));
  EXPECT_EQ(totals_.events, 4u);
}

TEST_F(MeasurementTest, EqualDefinitionsAreOne) {
  Region f;
  f.name = "f";
  f.file = "a.py";
  f.first_line = 3;
  const RegionId id = define_region(f);
  EXPECT_EQ(define_region(f), id);
  f.first_line = 4;
  EXPECT_NE(define_region(f), id);
  EXPECT_EQ(define_parameter("p", ParameterType::kInt64),
            define_parameter("p", ParameterType::kInt64));
  EXPECT_NE(define_parameter("p", ParameterType::kInt64),
            define_parameter("p", ParameterType::kFloat));
  EXPECT_EQ(define_metric("m", "s", MetricValueType::kDouble),
            define_metric("m", "s", MetricValueType::kDouble));
  EXPECT_NE(define_metric("m", "s", MetricValueType::kDouble),
            define_metric("m", "B", MetricValueType::kDouble));
  EXPECT_EQ(define_string("x"), define_string("x"));
  EXPECT_NE(define_string("x"), define_string("y"));
}

Lines names_of(const std::map<std::uint32_t, Region>& regions) {
  Lines names;
  for (const auto& [id, region] : regions) names.push_back(region.name);
  return names;
}

TEST_F(MeasurementTest, NamesTheRegionsThatWereEnteredInItAndNoOthers) {
  Region never;
  never.name = "never";
  (void)region_id(never);
  const EventWord common = region("common");
  for (int i = 0; i < 50; ++i) {
    begin();
    const std::string name = "only in " + std::to_string(i);
    const EventWord own = region(name);
    EXPECT_TRUE(enter_region(user_token(own), own));
    EXPECT_TRUE(enter_region(user_token(common), common));
    const Recorded found = end();
    EXPECT_EQ(names_of(found.definitions.regions), (Lines{"common", name}));
    EXPECT_EQ(found.threads.at(0),
              (Lines{"enter " + name, "enter common", "leave common", "leave " + name}));
    next_spool();
  }
}

TEST_F(MeasurementTest, HasTheOtherDefinitionsThatWereUsedInIt) {
  for (int i = 0; i < 3; ++i) {
    begin();
    const std::string number = std::to_string(i);
    enter(region("f"));
    const std::uint64_t text[] = {define_parameter("p" + number, ParameterType::kString).value(),
                                  define_string("text " + number).value()};
    t_recorder->extended(ExtendedKind::kParameterString, text);
    const std::uint64_t same[] = {define_parameter("all", ParameterType::kInt64).value(), 7};
    t_recorder->extended(ExtendedKind::kParameterInt, same);
    t_recorder->extended(ExtendedKind::kParameterInt, same);
    const std::uint64_t value[] = {
        define_metric("m" + number, "", MetricValueType::kUint64).value(), 5};
    t_recorder->extended(ExtendedKind::kMetric, value);
    const Recorded found = end();
    EXPECT_EQ(found.threads.at(0),
              (Lines{"enter f", "string p" + number + " text " + number, "int all 7", "int all 7",
                     "metric m" + number + " 5", "leave f"}));
    EXPECT_EQ(found.definitions.parameters.size(), 2u);
    EXPECT_EQ(found.definitions.metrics.size(), 1u);
    EXPECT_EQ(found.definitions.strings.size(), 1u);
    next_spool();
  }
}

TEST_F(MeasurementTest, TheSpoolOfTheSameWorkStaysAsLong) {
  std::uintmax_t size = 0;
  for (int i = 0; i < 20; ++i) {
    begin();
    enter(region("f"));
    enter(region("g"));
    define_string("text");
    const Recorded found = end();
    // The number of clock comparisons varies.
    constexpr std::uintmax_t kClockSync = 12 + 24;
    // The number of digits of the CPU time varies.
    const std::uintmax_t now = std::filesystem::file_size(path() + "/defs") -
                               kClockSync * found.definitions.clock_syncs.size() -
                               found.definitions.properties.at(kCpuTimes).size();
    if (i > 0) {
      EXPECT_EQ(now, size);
    }
    size = now;
    next_spool();
  }
}

TEST_F(MeasurementTest, ARegionIsNotDefinedWhereItsEnterIsNotRecorded) {
  const EventWord f = region("f"), g = region("g");
  StartOptions options;
  options.spool_directory = path();
  options.max_depth = 1;
  start(options);
  {
    const KeepOff nothing;
    EXPECT_FALSE(enter_region(user_token(f), f));
  }
  EXPECT_TRUE(enter_region(user_token(g), g));
  EXPECT_FALSE(enter_region(user_token(f), f));
  EXPECT_TRUE(leave(f));
  EXPECT_EQ(names_of(end().definitions.regions), Lines{"g"});
}

TEST_F(MeasurementTest, AForkedChildNamesWhatItInheritsAndWhatItEnters) {
  begin();
  stop();
  next_spool();
  begin();
  const EventWord outer = region("outer"), left = region("left"), later = region("later");
  enter(left);
  leave(left);
  enter(outer);
  const pid_t child = ::fork();
  if (child == 0) {
    next_spool();
    StartOptions options;
    options.spool_directory = path();
    start_in_child(options);
    enter_region(user_token(later), later);
    const Recorded found = end();
    const bool good = names_of(found.definitions.regions) == Lines{"later", "outer (forked)"} &&
                      found.threads.at(0) == Lines{"enter outer (forked)", "enter later",
                                                   "leave later", "leave outer (forked)"};
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(names_of(end().definitions.regions), (Lines{"outer", "left", "later"}));
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads in the child of a process with threads";
#endif
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(MeasurementTest, AMarkerHasTheTimeItWasMade) {
  begin();
  const std::uint64_t before = os::now();
  marker("here");
  const std::uint64_t after = os::now();
  const auto markers = end().definitions.markers;
  ASSERT_EQ(markers.size(), 1u);
  EXPECT_EQ(markers[0].text, "here");
  EXPECT_EQ(markers[0].thread, 0u);
  EXPECT_GE(markers[0].ticks, before);
  EXPECT_LE(markers[0].ticks, after);
}

TEST_F(MeasurementTest, AThreadIsNamedByWhomKnowsItsName) {
  set_thread_namer([](std::uint32_t location) { return "thread " + std::to_string(location); });
  begin();
  set_thread_namer(nullptr);
  EXPECT_EQ(read_spool(path()).definitions.threads.at(0).name, "thread 0");
  rename_threads({{static_cast<std::uintptr_t>(pthread_self()), "renamed"}});
  const auto threads = end().definitions.threads;
  EXPECT_EQ(threads.at(0).name, "renamed");
  EXPECT_NE(threads.at(0).thread_id, 0u);
}

TEST_F(MeasurementTest, MayEndWhileAThreadIsNamed) {
  set_thread_namer([](std::uint32_t) {
    stop();
    return std::string("late");
  });
  begin();
  set_thread_namer(nullptr);
  enter(region("f"));
  EXPECT_FALSE(active());
  EXPECT_TRUE(read_spool(path()).threads.empty());
}

TEST_F(MeasurementTest, AThreadThatCannotBeNamedHasTheNameOfItsNumber) {
  set_thread_namer([](std::uint32_t) -> std::string { throw std::bad_alloc(); });
  begin();
  set_thread_namer(nullptr);
  enter(region("f"));
  const Recorded recorded = end();
  EXPECT_EQ(recorded.definitions.threads.at(0).name, "Master thread");
  EXPECT_EQ(recorded.threads.at(0), (Lines{"enter f", "leave f"}));
}

TEST_F(MeasurementTest, AForkedChildRecordsNothingAndHarmsNothing) {
  begin(small());
  const EventWord f = region("f");
  enter(f);
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < 5000; ++i) {
      enter(f);
      leave(f);
    }
    const bool quiet = !active() && stop().events == 0;
    ::_exit(quiet ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  leave(f);
  EXPECT_EQ(end().threads[0], (Lines{"enter f", "leave f"}));
}

TEST_F(MeasurementTest, AForkedChildMayMeasureItself) {
  begin();
  enter(region("parent"));
  const pid_t child = ::fork();
  if (child == 0) {
    next_spool();
    begin();
    enter(region("child"));
    ::_exit(end().threads[0] == Lines{"enter child", "leave child"} ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(end().threads[0], (Lines{"enter parent", "leave parent"}));
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads in the child of a process with threads";
#endif
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(MeasurementTest, TheCauseOfAnEndIsNotedAndNotWhatFollowsFromIt) {
  using enum EndingKind;
  const auto noted_of = [this](EndingKind first, EndingKind next) {
    begin();
    note_own_ending({first, 1});
    note_own_ending({next, 1});
    const EndingKind noted = spool::Reader::open(path())->definitions().ending.kind;
    stop();
    next_spool();
    return noted;
  };
  EXPECT_EQ(noted_of(kMpiAbort, kCExit), kMpiAbort);
  EXPECT_EQ(noted_of(kMpiAbort, kSignal), kMpiAbort);
  EXPECT_EQ(noted_of(kRestricted, kCExit), kRestricted);
  EXPECT_EQ(noted_of(kExit, kCExit), kExit);
  EXPECT_EQ(noted_of(kExit, kRestricted), kRestricted);
  EXPECT_EQ(noted_of(kQuickExit, kCExit), kCExit);
  EXPECT_EQ(noted_of(kExec, kNone), kNone);
}

TEST_F(MeasurementTest, IsInUseForOthersUntilItEnds) {
  begin();
  const auto seen_by_child = [this] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(alive(path()) == Alive::kYes ? 1 : 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(seen_by_child(), 1);
  stop();
  EXPECT_EQ(seen_by_child(), 0);
}

// A child that lives longer does not keep its parent's run in use.
TEST_F(MeasurementTest, IsInUseNoLongerThanItsProcessLives) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t measured = ::fork();
  if (measured == 0) {
    begin();
    char end = 0;
    if (::fork() != 0) ::_exit(0);
    ::close(pipe[1]);
    ::_exit(static_cast<int>(::read(pipe[0], &end, 1)));
  }
  int status = 0;
  ::waitpid(measured, &status, 0);
  // The grandchild may not have run yet.
  for (int i = 0; i < 1000 && alive(path()) == Alive::kYes; ++i) ::usleep(10'000);
  EXPECT_NE(alive(path()), Alive::kYes);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(MeasurementTest, ADeletedRunDirectoryHarmsNobody) {
  begin(small());
  const EventWord f = region("f");
  std::filesystem::remove_all(path());
  for (int i = 0; i < 20000; ++i) {
    enter(f);
    leave(f);
  }
  const Totals totals = stop();
  EXPECT_EQ(totals.events, 40000u);
  EXPECT_EQ(totals.error, ENOENT);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

}  // namespace
}  // namespace timeloom::record
