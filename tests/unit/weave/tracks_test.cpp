// Threads that create and await each other, and tracks: locations whose events lie in the stream of
// a thread.
#include "spool/gpu_writer.hpp"
#include "weave_fixture.hpp"

namespace timeloom::weave {
namespace {

class TracksTest : public WeaveTest {
 protected:
  static void number(spool::Pen& pen, ExtendedKind kind, std::uint64_t number) {
    pen.raw(os::now(), make_extended(kind, 1), {number}, true);
  }
  static void track(spool::Pen& pen, std::uint32_t location) {
    number(pen, ExtendedKind::kTrack, location);
  }
  static void end_track(spool::Pen& pen) {
    pen.raw(os::now(), make_extended(ExtendedKind::kTrackEnd, 0), {}, true);
  }
  static void define_track(spool::Writer& writer, std::uint32_t index,
                           const std::string& name = "task ") {
    writer.define_location(index, 1, name + std::to_string(index));
    writer.define_track(index, 0);
    writer.define_begin(index, os::now(), index + 100);
  }
};

TEST_F(TracksTest, AThreadIsCreatedBeginsEndsAndIsWaitedFor) {
  spool::Writer& writer = spool("p");
  spool::Pen main(writer, 0);
  main.enter(os::now(), 0);
  number(main, ExtendedKind::kCreate, 7);
  writer.define_location(1, 2, "worker");
  writer.define_begin(1, os::now(), 7);
  spool::Pen worker(writer, 1);
  worker.enter(os::now(), 1);
  worker.leave(os::now(), 1);
  writer.define_last(1, os::now());
  main.enter(os::now(), 1);
  number(main, ExtendedKind::kWait, 7);
  main.enter(os::now(), 1);
  main.leave(os::now(), 1);
  main.leave(os::now(), 1);
  main.leave(os::now(), 0);
  main.retire();
  worker.retire();
  end(writer);
  SpoolSource source = this->source();
  EXPECT_EQ(collect(source)->lines,
            (std::map<std::string, Lines>{
                {"main", in_program({"enter f", "create 7", "enter g", "enter g", "leave g",
                                     "wait 7", "leave g", "leave f"})},
                {"worker", {"thread 7", "enter g", "leave g", "ended 7"}}}));
  EXPECT_EQ(source.dropped_events(), 0u);
}

TEST_F(TracksTest, AWaitThatEndsBeforeTheThreadIsNone) {
  spool::Writer& writer = spool("p");
  writer.define_location(1, 2, "worker");
  writer.define_begin(1, os::now(), 7);
  spool::Pen main(writer, 0);
  main.enter(os::now(), 0);
  number(main, ExtendedKind::kWait, 7);
  main.leave(os::now(), 0);
  main.retire();
  writer.define_last(1, os::now() + 1000);
  end(writer);
  SpoolSource source = this->source();
  EXPECT_EQ(collect(source)->lines.at("main"), in_program({"enter f", "leave f"}));
}

TEST_F(TracksTest, AThreadThatCouldNotBeStartedIsNotCreated) {
  spool::Writer& writer = spool("p");
  spool::Pen main(writer, 0);
  main.enter(os::now(), 0);
  number(main, ExtendedKind::kCreate, 7);
  number(main, ExtendedKind::kWait, 7);
  main.leave(os::now(), 0);
  main.retire();
  end(writer);
  SpoolSource source = this->source();
  EXPECT_EQ(collect(source)->lines.at("main"), in_program({"enter f", "leave f"}));
  EXPECT_EQ(source.dropped_events(), 0u);
}

TEST_F(TracksTest, EveryTrackGetsItsOwnEvents) {
  spool::Writer& writer = spool("p");
  define_track(writer, 1);
  define_track(writer, 2);
  spool::Pen pen(writer, 0);
  pen.enter(os::now(), 0);
  track(pen, 1);
  pen.enter(os::now(), 1);
  track(pen, 2);
  pen.enter(os::now(), 1);
  pen.retire();  // the next segment names its track
  track(pen, 1);
  pen.leave(os::now(), 1);
  end_track(pen);
  track(pen, 0);
  pen.leave(os::now(), 0);
  pen.retire();
  end(writer);
  SpoolSource source = this->source();
  EXPECT_EQ(collect(source)->lines,
            (std::map<std::string, Lines>{
                {"main", in_program({"enter f", "leave f"})},
                {"task 1", {"thread 101", "enter g", "leave g", "ended 101"}},
                {"task 2", {"thread 102", "enter g", "leave g"}}}));  // did not end
  EXPECT_EQ(source.closed_regions(), 1u);
  EXPECT_EQ(source.dropped_events(), 0u);
}

// More than are fed at a time.
TEST_F(TracksTest, AHundredTracksAtOnceAreAllThere) {
  constexpr std::uint32_t kTracks = 100;
  spool::Writer& writer = spool("p");
  for (std::uint32_t i = 1; i <= kTracks; ++i) define_track(writer, i);
  spool::Pen pen(writer, 0);
  pen.enter(os::now(), 0);
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t i = 1; i <= kTracks; ++i) {
      track(pen, i);
      if (round == 0) pen.enter(os::now(), 0);
      for (std::uint32_t visit = 0; visit < i; ++visit) {
        pen.enter(os::now(), 1);
        pen.leave(os::now(), 1);
      }
      if (round < 2) continue;
      pen.leave(os::now(), 0);
      end_track(pen);
    }
  }
  track(pen, 0);
  pen.leave(os::now(), 0);
  pen.retire();
  end(writer);
  SpoolSource source = this->source();
  const auto lines = collect(source)->lines;
  ASSERT_EQ(lines.size(), kTracks + 1);
  EXPECT_EQ(lines.at("main"), in_program({"enter f", "leave f"}));
  std::uint64_t events = 4;
  for (std::uint32_t i = 1; i <= kTracks; ++i) {
    Lines expected = calls(static_cast<int>(3 * i));
    expected.insert(expected.begin(), "thread " + std::to_string(i + 100));
    expected.push_back("ended " + std::to_string(i + 100));
    EXPECT_EQ(lines.at("task " + std::to_string(i)), expected);
    events += expected.size();
  }
  EXPECT_EQ(source.events(), events);
  EXPECT_EQ(source.damaged_segments() + source.dropped_events(), 0u);
}

// The events of tracks wait for their end; when too many wait, the stream is read again. Each track
// has its own GPU calls, in every reading.
TEST_F(TracksTest, LongTracksAtOnceAreAllThere) {
  constexpr std::uint32_t kTracks = 16;
  constexpr int kVisits = 20'000;
  spool::Writer& writer = spool("p");
  int error = 0;
  const auto gpu = spool::GpuWriter::create((run() / "spool" / "p").string(), &error);
  ASSERT_EQ(error, 0);
  for (std::uint32_t i = 1; i <= kTracks; ++i) define_track(writer, i);
  spool::Pen pen(writer, 0);
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t i = 1; i <= kTracks; ++i) {
      track(pen, i);
      pen.enter(os::now(), 0);
      const std::uint64_t start = os::now();
      gpu->add({start, os::now(), gpu->thread(1), i,
                spool::GpuRecord::word(spool::GpuRecordKind::kCall,
                                       gpu->text("call of task " + std::to_string(i)))});
      pen.leave(os::now(), 0);
      for (int visit = 0; visit < kVisits; ++visit) {
        pen.enter(os::now(), 1);
        pen.leave(os::now(), 1);
      }
      if (round == 1) end_track(pen);
    }
  }
  pen.retire();
  gpu->flush();
  end(writer);
  SpoolSource source = this->source();
  const auto lines = collect(source)->lines;
  ASSERT_EQ(lines.size(), kTracks + 1);
  for (std::uint32_t i = 1; i <= kTracks; ++i) {
    const std::string name = "task " + std::to_string(i);
    EXPECT_EQ(lines.at(name).size(), 4 * kVisits + 10u);
    EXPECT_EQ(std::ranges::count(lines.at(name), "enter call of " + name), 2);
  }
  EXPECT_EQ(source.events(), kTracks * (4 * kVisits + 10u) + 2);
  EXPECT_EQ(source.damaged_segments() + source.dropped_events(), 0u);
}

TEST_F(TracksTest, EventsOfATrackWithoutDefinitionAreNobodysElse) {
  spool::Writer& writer = spool("p");
  spool::Pen pen(writer, 0);
  pen.enter(os::now(), 0);
  track(pen, 9);
  pen.enter(os::now(), 1);
  pen.leave(os::now(), 1);
  track(pen, 0);
  pen.leave(os::now(), 0);
  pen.retire();
  end(writer);
  SpoolSource source = this->source();
  EXPECT_EQ(collect(source)->lines,
            (std::map<std::string, Lines>{{"main", in_program({"enter f", "leave f"})}}));
  EXPECT_EQ(source.dropped_events(), 2u);
}

// Lanes of coroutines of an engine are locations of no task.
TEST_F(TracksTest, AnEngineLaneIsNeitherAThreadNorATask) {
  spool::Writer& writer = spool("p");
  define_track(writer, 1, "0-Dask-Transfers-");
  end(writer);
  const WeaveSummary summary = weave(run());
  EXPECT_EQ((std::vector{summary.threads, summary.tasks, summary.task_lanes}),
            (std::vector<std::uint64_t>{1, 0, 1}));
}

TEST_F(TracksTest, TasksBesideAnEngineLaneCount) {
  spool::Writer& writer = spool("p");
  define_track(writer, 1, "0-Dask-Transfers-");
  define_track(writer, 2);
  define_track(writer, 3);
  end(writer);
  const WeaveSummary summary = weave(run());
  EXPECT_EQ((std::vector{summary.threads, summary.tasks, summary.task_lanes}),
            (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(TracksTest, TheTraceSaysTheSame) {
  spool::Writer& writer = spool("p");
  define_track(writer, 1);
  spool::Pen pen(writer, 0);
  pen.enter(os::now(), 0);
  number(pen, ExtendedKind::kCreate, 101);
  track(pen, 1);
  pen.enter(os::now(), 1);
  pen.leave(os::now(), 1);
  end_track(pen);
  track(pen, 0);
  pen.leave(os::now(), 0);
  pen.retire();
  end(writer);
  weave(run());
  EXPECT_EQ(lines_of_trace(run() / "traces.otf2"),
            (std::map<std::string, Lines>{
                {"main", in_program({"enter f", "create 101", "leave f"})},
                {"task 1", {"thread 101", "enter g", "leave g", "ended 101"}}}));
}

}  // namespace
}  // namespace timeloom::weave
