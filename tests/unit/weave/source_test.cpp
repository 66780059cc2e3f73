// Spools as a run: definitions joined, regions closed, losses counted.
#include "weave_fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "core/life.hpp"
#include "core/regions/forked_region.hpp"
#include "core/run_properties.hpp"

namespace timeloom::weave {
namespace {

class SourceTest : public WeaveTest {};

TEST_F(SourceTest, AProcessHasBeginEventsAndEnd) {
  simple_run(2);
  SpoolSource source = this->source();
  EXPECT_EQ(collect(source)->lines, (std::map<std::string, Lines>{{"main", in_program(calls(2))}}));
  EXPECT_TRUE(source.ended_in_order());
  EXPECT_EQ(source.events(), 8u);
  EXPECT_EQ(source.closed_regions() + source.dropped_events() + source.damaged_segments(), 0u);
  EXPECT_EQ(source.progress(), 1.0);
}

TEST_F(SourceTest, WhatIsOpenWhereTheRoomEndedIsClosedThere) {
  spool::Writer& writer = spool("p");
  writer.define_location(0, 1, "cut");
  writer.define_location(1, 2, "went on");
  const std::uint64_t first = os::now();
  {
    spool::Pen cut(writer, 0), went_on(writer, 1);
    cut.enter(first, 0);
    cut.enter(first + 10, 1);
    went_on.enter(first, 0);
    went_on.enter(first + 1000, 1);
  }
  writer.define_cut(0, first + 500);
  writer.define_cut(1, first + 500);  // recording could continue
  end(writer);
  SpoolSource source = this->source();
  const auto run = collect(source);
  const auto& cut = run->events.at("cut");
  const auto& went_on = run->events.at("went on");
  ASSERT_EQ(run->lines.at("cut"), in_program({"enter f", "enter g", "leave g", "leave f"}));
  EXPECT_LT(cut[3].time, went_on[1].time);
  EXPECT_EQ(cut[3].time, cut[4].time);
  EXPECT_EQ(went_on.back().time, cut.back().time);  // the end of the process
}

TEST_F(SourceTest, TimesAreNanosecondsOfTheMonotonicClock) {
  const std::uint64_t before = os::sync_clocks().monotonic_ns;
  simple_run();
  const std::uint64_t after = os::sync_clocks().monotonic_ns;
  SpoolSource source = this->source();
  const auto run = collect(source);
  for (const Event& event : run->events.at("main")) {
    EXPECT_GE(ticks(event.time), before);
    EXPECT_LE(ticks(event.time), after);
  }
  const ClockProperties& clock = source.definitions().clock;
  EXPECT_GE(clock.begin, before);
  EXPECT_LE(clock.begin + clock.length, after);
  EXPECT_TRUE(clock.realtime.has_value());
}

// Where a single process knows the size, the number of members is limited.
TEST_F(SourceTest, SizesOfCommunicatorsAreNotAllBelieved) {
  constexpr std::uint32_t kLarge = 1 << 23;
  for (const std::uint32_t rank : {0u, 1u}) {
    spool::Writer& writer = spool(rank == 0 ? "a" : "b");
    write_calls(writer, 0, 1);
    for (std::uint32_t id = 0; id < 20; ++id) {
      writer.define_communicator(id, {100 * rank + id + 1, 0, false, kLarge, 0});
    }
    writer.define_communicator(20, {1000, 0, false, 2, rank});
    end(writer);
  }
  SpoolSource source = this->source();
  std::uint64_t members = 0;
  for (const Communicator& one : source.definitions().communicators) members += one.members.size();
  EXPECT_LE(members, 2u * kLarge + 42);
  const auto both =
      std::ranges::find(source.definitions().communicators, 1000u, &Communicator::identity);
  ASSERT_NE(both, source.definitions().communicators.end());
  EXPECT_EQ(both->members.size(), 2u);
}

TEST_F(SourceTest, DefinitionsOfTwoProcessesAreJoined) {
  spool::Writer& a = spool("a", {"f", "g"});
  spool::Writer& b = spool("b", {"h", "f", "g"}, 100);
  for (spool::Writer* writer : {&a, &b}) {
    writer->define_parameter(ParameterId{writer == &a ? 0u : 4u}, {"p", ParameterType::kString});
    writer->define_metric(MetricId{0},
                          {"m", writer == &a ? "s" : "B", "", MetricValueType::kUint64});
    writer->define_string(StringId{writer == &a ? 3u : 0u}, "text");
  }
  write_calls(a, 0, 1);
  write_calls(b, 0, 1, 101);
  {
    spool::Pen pen(a, 5);
    pen.valued(os::now(), EventKind::kParameterString, 0, 3);
    spool::Pen other(b, 5);
    other.valued(os::now(), EventKind::kParameterString, 4, 0);
    other.valued(os::now(), EventKind::kMetric, 0, 8);
  }
  end(a);
  end(b);
  SpoolSource source = this->source();
  const Definitions& run = source.definitions();
  Lines names;
  for (const Region& region : run.regions) names.push_back(region.name);
  EXPECT_EQ(names, (Lines{"f", "g", "h"}));
  EXPECT_EQ(run.parameters.size(), 1u);
  EXPECT_EQ(run.metrics.size(), 2u);
  EXPECT_EQ(run.strings, Lines{"text"});
  ASSERT_EQ(run.locations.size(), 4u);
  for (std::size_t i = 1; i < run.locations.size(); ++i) {
    EXPECT_LT(run.locations[i - 1].id, run.locations[i].id);
  }
  EXPECT_EQ(collect(source)->lines,
            (std::map<std::string, Lines>{{"a/main", in_program(calls(1))},
                                          {"b/main", in_program(calls(1))},
                                          {"a/Thread 5", {"string p text"}},
                                          {"b/Thread 5", {"string p text", "metric m 8"}}}));
}

TEST_F(SourceTest, TheClockOfTheRunSpansAllProcesses) {
  spool::Writer& late = spool("a");  // comes first by name, ends last
  spool::Writer& early = spool("b");
  early.define_clock_sync(os::sync_clocks());
  end(early);
  end(late);
  SpoolSource source = this->source();
  const ClockProperties clock = source.definitions().clock;
  for (const char* name : {"a", "b"}) {
    const auto reader = spool::Reader::open((run() / "spool" / name).string());
    const auto& syncs = reader->definitions().clock_syncs;
    EXPECT_LE(clock.begin, syncs.front().monotonic_ns);
    EXPECT_GE(clock.begin + clock.length + 1, syncs.back().monotonic_ns);  // rounded
  }
}

class ForksTest : public WeaveTest {
 protected:
  void bare_fork(const std::string& name, const std::string& parent) {
    spool::Writer& child = spool(name, {});
    child.define_process({name, "", 10, "", {}, {}, ""}, parent);
    Region region;
    region.name = region.canonical_name = "f";
    child.define_region(RegionId{0}, forked_region(region));
    end(child);
  }
  Lines groups() {
    const SpoolSource source = this->source();
    Lines names;
    for (const LocationGroup& group : source.definitions().groups) names.push_back(group.name);
    return names;
  }
};

TEST_F(ForksTest, ThoseThatCameToNothingAreLeftOut) {
  simple_run();
  bare_fork("q", "p");
  EXPECT_EQ(groups(), Lines{"p"});
}

TEST_F(ForksTest, ThoseThatHaveLostSomethingAreNotLeftOut) {
  simple_run();
  bare_fork("q", "p");
  test::write_bytes(run() / "spool" / "q" / "profile-0", "no profile");
  EXPECT_EQ(groups(), (Lines{"p", "q"}));
}

// Such parents can result from damage.
TEST_F(ForksTest, ParentsInACircleAreNone) {
  simple_run();
  bare_fork("a", "b");
  bare_fork("b", "a");
  bare_fork("c", "c");
  for (const std::string parent : {"a", "c"}) {
    spool::Writer& child = spool("of-" + parent);
    child.define_process({"of-" + parent, "", 10, "", {}, {}, ""}, parent);
    end(child);
  }
  Lines names = groups();
  std::ranges::sort(names);
  EXPECT_EQ(names, (Lines{"of-a", "of-c", "p"}));
}

TEST_F(SourceTest, ProcessesComeInTheOrderOfTheirStartsAndKnowTheirParents) {
  spool::Writer& parent = spool("9-0");
  spool::Writer& child = spool("10-0");
  child.define_process({"worker", "", 10, "", {}, {}, ""}, "9-0");
  spool::Writer& stranger = spool("1-0");
  stranger.define_process({"stranger", "", 1, "", {}, {}, ""}, "7-7");
  end(parent);
  child.ending() = to_word({EndingKind::kSignal, 15});
  stranger.define_clock_sync(os::sync_clocks());
  stranger.close({EndingKind::kExit, 3});
  const spool::Snapshot killed = spool::Snapshot::of(run() / "spool" / "10-0");
  child.close();
  killed.write_to(run() / "spool" / "10-0");
  const SpoolSource source = this->source();
  const auto& groups = source.definitions().groups;
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].name + groups[1].name + groups[2].name, "9-0workerstranger");
  EXPECT_FALSE(groups[0].creator.defined());
  EXPECT_EQ(groups[1].creator, LocationGroupId{0});
  EXPECT_FALSE(groups[2].creator.defined());
  EXPECT_EQ(groups[0].ending, "");
  EXPECT_EQ(groups[1].ending, "ended by SIGTERM");
  EXPECT_EQ(groups[2].ending, "ended by os._exit(3)");
  EXPECT_EQ(source.ending(), "");
}

TEST_F(SourceTest, AProcessThatWasKilledAtItsExitEndedByTheSignal) {
  spool::Writer& parent = spool("9-0");
  for (const auto& [number, status] : {std::pair{10u, SIGKILL}, {11u, 3 << 8}}) {
    spool::Writer& child = spool(std::to_string(number) + "-0");
    child.define_process({"worker", "", number, "", {}, {}, ""}, "9-0");
    parent.define_property(kReaped + std::to_string(number), std::to_string(status));
    child.define_clock_sync(os::sync_clocks());
    child.close({EndingKind::kExit, 3});
  }
  end(parent);
  const SpoolSource source = this->source();
  ASSERT_EQ(source.definitions().groups.size(), 3u);
  EXPECT_EQ(source.definitions().groups[1].ending, "ended by SIGKILL");
  EXPECT_EQ(source.definitions().groups[2].ending, "ended by os._exit(3)");
}

// One second of events, with the clock of the test's spools.
class LostClockTest : public WeaveTest {
 protected:
  static constexpr std::uint64_t kTicksApart = 1'000'000'000;
  void write_second(spool::Writer& writer) const {
    spool::Pen pen(writer, 0);
    pen.enter(start_.ticks, 0);
    pen.leave(start_.ticks + kTicksApart, 0);
  }
  // The run starts with its first event and lasts as long as its events.
  void expect_time_of_events(SpoolSource& source) {
    const auto run = collect(source);
    const std::vector<Event>& events = run->events.at("main");
    ASSERT_EQ(run->lines.at("main"), in_program({"enter f", "leave f"}));
    EXPECT_EQ(ticks(events.front().time), source.definitions().clock.begin);
    EXPECT_EQ(events[0].time, events[1].time);
    EXPECT_EQ(events[2].time, events[3].time);
    const ProcessClock clock(os::clock_source(), {start_});
    const std::uint64_t length =
        ticks(clock.to_time(start_.ticks + kTicksApart)) - ticks(clock.to_time(start_.ticks));
    EXPECT_NEAR(static_cast<double>(ticks(events[2].time) - ticks(events[1].time)),
                static_cast<double>(length), 1);
  }
  const os::ClockSync start_ = os::sync_clocks();
};

TEST_F(LostClockTest, WithoutComparisonsTheRunBeginsWithItsFirstEvent) {
  clock_is_lost_ = true;
  spool::Writer& writer = spool("p");
  write_second(writer);
  writer.close();
  SpoolSource source = this->source();
  EXPECT_GT(source.definitions().clock.begin, 0u);
  EXPECT_FALSE(source.definitions().clock.realtime.has_value());
  expect_time_of_events(source);
}

TEST_F(LostClockTest, EventsBeforeTheFirstComparisonLeftKeepTheirTimes) {
  clock_is_lost_ = true;
  spool::Writer& writer = spool("p");
  write_second(writer);
  os::ClockSync sync = start_;  // as if recorded at the end
  sync.ticks += kTicksApart;
  sync.monotonic_ns += 500'000'000;
  sync.realtime_ns += 500'000'000;
  writer.define_clock_sync(sync);
  writer.close();
  SpoolSource source = this->source();
  expect_time_of_events(source);
  const ClockProperties& clock = source.definitions().clock;
  EXPECT_EQ(*clock.realtime - clock.begin, sync.realtime_ns - sync.monotonic_ns);
}

TEST_F(LostClockTest, TheClockOfAnotherProcessIsTaken) {
  write_second(spool("a"));
  clock_is_lost_ = true;
  write_second(spool("b"));
  for (auto& writer : writers_) writer->close();
  SpoolSource source = this->source();
  const auto run = collect(source);
  EXPECT_EQ(run->events.at("a/main")[1].time, run->events.at("b/main")[1].time);
  EXPECT_EQ(run->events.at("a/main")[2].time, run->events.at("b/main")[2].time);
}

TEST_F(LostClockTest, AProcessOfWhichNoTimeIsKnownBeginsWithTheRun) {
  write_second(spool("a"));
  clock_is_lost_ = true;
  spool("b");
  for (auto& writer : writers_) writer->close();
  SpoolSource source = this->source();
  const std::uint64_t begin = source.definitions().clock.begin;
  EXPECT_GT(begin, 0u);
  const auto run = collect(source);
  for (const Event& event : run->events.at("b/main")) {
    EXPECT_EQ(ticks(event.time), begin);
  }
}

TEST_F(SourceTest, WhatAKillLeftOpenIsClosedWhenTheProcessWasLastSeen) {
  spool::Writer& writer = spool("p");
  spool::Pen pen(writer, 0);
  pen.enter(os::now(), 0);
  pen.enter(os::now(), 1);
  writer.define_clock_sync(os::sync_clocks());
  const std::uint64_t seen = os::sync_clocks().monotonic_ns;
  writer.define_clock_sync(os::sync_clocks());
  const spool::Snapshot left = spool::Snapshot::of(run() / "spool" / "p");
  pen.retire();
  writer.close();
  left.write_to(run() / "spool" / "p");
  SpoolSource source = this->source();
  const auto run = collect(source);
  EXPECT_EQ(run->lines.at("main"), in_program({"enter f", "enter g", "leave g", "leave f"}));
  EXPECT_GE(ticks(run->events.at("main")[3].time), seen);
  EXPECT_FALSE(source.ended_in_order());
  EXPECT_EQ(source.closed_regions(), 2u);
  EXPECT_EQ(source.definitions().properties.at("timeloom::closed_regions"), "2");
  EXPECT_TRUE(source.definitions().properties.contains("timeloom::ending"));
}

TEST_F(SourceTest, TheCpuTimeOfAProcessThatWasKilledAtItsEndCountsOnce) {
  spool::Writer& writer = spool("p");
  writer.note(CpuTimes{30, 10});
  writer.define_property(kCpuTimes, to_text(CpuTimes{40, 10}));
  const spool::Snapshot left = spool::Snapshot::of(run() / "spool" / "p");
  writer.close();
  left.write_to(run() / "spool" / "p");
  EXPECT_EQ(spool::Reader::open(run() / "spool" / "p")->definitions().cpu.process, 30u);
  EXPECT_EQ(source().definitions().properties.at(kCpuTimes), "40 10");
}

TEST_F(SourceTest, LostEventsAreSaid) {
  spool::Writer& writer = spool("p");
  writer.count_lost(12);
  end(writer);
  SpoolSource source = this->source();
  EXPECT_EQ(source.lost_events(), 12u);
  EXPECT_EQ(source.definitions().properties.at("timeloom::lost_events"), "12");
}

TEST_F(SourceTest, IdsMayBeThoseOfAProcessThatHasHadMillionsBefore) {
  constexpr std::uint32_t kFirst = 60'000'000;
  spool::Writer& writer = spool("p", {"f", "g"}, kFirst);
  write_calls(writer, 0, 1, kFirst);
  end(writer);
  SpoolSource source = this->source();
  EXPECT_EQ(collect(source)->lines.at("main"), in_program(calls(1)));
}

TEST_F(SourceTest, InACompleteSpoolThereIsNoSuchRegion) {
  simple_run();
  const SpoolSource source = this->source();
  for (const Region& region : source.definitions().regions) {
    EXPECT_NE(region.name, "(definition lost)");
  }
}

TEST_F(SourceTest, ADamagedSegmentLeavesABalancedRest) {
  simple_run(2000);
  const std::string log = (run() / "spool/p/log").string();
  std::string bytes = test::read_bytes(log);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  test::write_bytes(log, bytes);
  SpoolSource source = this->source();
  const auto run = collect(source);  // checks the balance
  EXPECT_GT(run->lines.at("main").size(), 3000u);
  EXPECT_LT(run->lines.at("main").size(), 4004u);
  EXPECT_EQ(source.damaged_segments(), 1u);
  EXPECT_EQ(source.definitions().properties.at("timeloom::damaged_segments"), "1");
}

TEST_F(SourceTest, ASpoolBeyondRepairDoesNotHideTheOthers) {
  simple_run(1);
  fs::create_directory(run() / "spool/a");
  test::write_bytes(run() / "spool/a/defs", "");
  SpoolSource source = this->source();
  EXPECT_EQ(source.unreadable_spools(), 1u);
  EXPECT_EQ(collect(source)->lines.at("main"), in_program(calls(1)));
  EXPECT_EQ(source.definitions().properties.at("timeloom::unreadable_spools"), "1");
  EXPECT_NE(error_of([&] { SpoolSource(std::vector<spool::SpoolDirectory>{run() / "spool/a"}); }),
            "none");
  EXPECT_NE(error_of([&] { SpoolSource(std::vector<spool::SpoolDirectory>{}); }), "none");
}

// Such a child has recorded nothing: the run is complete without it.
TEST_F(SourceTest, AProcessKilledBeforeItsFirstByteIsNoDamage) {
  simple_run(1);
  const fs::path killed = run() / "spool/a";
  fs::create_directory(killed);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(write_life(killed.string()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  for (const char* name : {"defs", "log", "ring"}) test::write_bytes(killed / name, "");
  SpoolSource source = this->source();
  EXPECT_EQ(source.unreadable_spools(), 0u);
  EXPECT_EQ(collect(source)->lines.at("main"), in_program(calls(1)));

  test::write_bytes(killed / "log", "something");
  EXPECT_EQ(this->source().unreadable_spools(), 1u);
  test::write_bytes(killed / "log", "");
  fs::remove(killed / "life");
  ASSERT_EQ(write_life(killed.string()), 0);  // now of a living process, which may still write
  EXPECT_EQ(this->source().unreadable_spools(), 1u);
}

TEST_F(SourceTest, MarkersAreInOrderOfTimeAndOfKnownThreads) {
  spool::Writer& writer = spool("p");
  const std::uint64_t now = os::now();
  writer.define_marker(0, now + 20, "second");
  writer.define_marker(0, now + 10, "first");
  writer.define_marker(9, now, "of nobody");
  end(writer);
  SpoolSource source = this->source();
  ASSERT_EQ(source.definitions().markers.size(), 2u);
  EXPECT_EQ(source.definitions().markers[0].text, "first");
  EXPECT_EQ(source.definitions().markers[1].text, "second");
  EXPECT_EQ(source.dropped_events(), 1u);
}

TEST_F(SourceTest, WithoutDefinitionsTheEventsAreStillThere) {
  simple_run(2);
  const fs::path defs = run() / "spool/p/defs";
  test::write_bytes(defs, test::read_bytes(defs).substr(0, 16));
  SpoolSource source = this->source();
  const auto run = collect(source);
  EXPECT_EQ(run->lines.at("Thread 0").size(), 8u);
  EXPECT_EQ(source.definitions().groups.at(0).name, "Process");
  EXPECT_LT(source.definitions().clock.begin, std::uint64_t{1} << 63);
}

TEST_F(SourceTest, AnyNumberOfThreadsGivesTheSame) {
  spool::Writer& writer = spool("p");
  for (std::uint32_t location = 0; location < 12; ++location) {
    write_calls(writer, location, static_cast<int>(100 * location));
  }
  end(writer);
  SpoolSource serial_source = source();
  const auto serial = collect(serial_source, 1);
  ASSERT_EQ(serial->lines.size(), 12u);
  for (const unsigned threads : {2u, 3u, 16u}) {
    SpoolSource parallel_source = source();
    const auto parallel = collect(parallel_source, threads);
    EXPECT_EQ(parallel->lines, serial->lines);
    EXPECT_EQ(parallel_source.events(), serial_source.events());
  }
}

class Refuser : public RunSink {
 public:
  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location&) override { throw Error("no"); }
  void finish() override { ADD_FAILURE() << "finished in spite of an error"; }
};

TEST_F(SourceTest, AnErrorOfASinkComesOutOnce) {
  spool::Writer& writer = spool("p");
  for (std::uint32_t location = 0; location < 8; ++location) write_calls(writer, location, 5);
  end(writer);
  Refuser refuser;
  const std::array<RunSink*, 1> sinks{&refuser};
  SpoolSource source = this->source();
  EXPECT_EQ(error_of([&] { source.replay(sinks, 4); }), "no");
}

}  // namespace
}  // namespace timeloom::weave
