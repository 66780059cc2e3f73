// Looks at a run that is still recorded.
#include "weave/live_run.hpp"

#include <unistd.h>

#include "os/process.hpp"
#include "weave_fixture.hpp"

namespace timeloom::weave {
namespace {

class LiveRunTest : public WeaveTest {
 protected:
  // The events of the main thread in a look.
  static std::vector<Event> events_of(SpoolSource& source) {
    Collector collector;
    const std::array<RunSink*, 1> sinks = {&collector};
    source.replay(sinks, 1);
    return collector.events.at("main");
  }
  static Lines regions_of(const SpoolSource& source) {
    Lines names;
    for (const Region& region : source.definitions().regions) names.push_back(region.name);
    return names;
  }
};

TEST_F(LiveRunTest, EachLookHasTheEventsSoFar) {
  spool::Writer& writer = spool("p");
  spool::Pen pen(writer, 0);
  LiveReader reader(run());
  EXPECT_TRUE(is_recorded_now(run()));
  std::size_t seen = 0;
  for (int look = 0; look < 3; ++look) {
    for (int i = 0; i < 1000; ++i) {  // more than a segment
      pen.enter(os::now(), 0);
      pen.leave(os::now(), 0);
    }
    const auto source = reader.look();
    EXPECT_EQ(source->running(), 1u);
    seen += 2000;
    // The start and the end of the program are events, too.
    EXPECT_EQ(events_of(*source).size(), seen + 2);
  }
  pen.retire();
  end(writer);
  EXPECT_EQ(reader.look()->running(), 0u);
  EXPECT_FALSE(is_recorded_now(run()));
  EXPECT_FALSE(reader.was_woven());
  weave(run());
  EXPECT_EQ(reader.look(), nullptr);
  EXPECT_TRUE(reader.was_woven());
}

TEST_F(LiveRunTest, ARunWithANewNameIsFound) {
  spool::Writer& writer = spool("p");
  spool::Pen pen(writer, 0);
  pen.retire();
  LiveReader reader(run());
  end(writer);
  const fs::path renamed = run().string() + "-renamed";
  fs::rename(run(), renamed);
  EXPECT_THROW(reader.look(), Error);
  EXPECT_EQ(reader.path(), fs::canonical(renamed));
  EXPECT_FALSE(reader.was_woven());
  weave(renamed);
  EXPECT_TRUE(reader.was_woven());
  // Another directory under the old name is not the run.
  fs::create_directory(run());
  EXPECT_EQ(reader.path(), fs::canonical(renamed));
  fs::remove_all(renamed);
  EXPECT_FALSE(reader.was_woven());
}

TEST_F(LiveRunTest, AProcessLivesBeyondItsMeasurement) {
  for (const bool stranger : {true, false}) {
    const std::string name = stranger ? "s" : "p";
    spool::Writer& writer = spool(name);
    LocationGroup process;
    process.process_id = stranger ? static_cast<std::uint64_t>(::getppid())  // records nothing here
                                  : static_cast<std::uint64_t>(::getpid());
    writer.define_process(process, "");
    LiveReader reader(run());
    EXPECT_EQ(reader.look()->running(), 1u);
    EXPECT_EQ(reader.process_lives(), !stranger);
    end(writer);
    EXPECT_EQ(reader.look()->running(), 0u);
    EXPECT_EQ(reader.process_lives(), !stranger);
  }
}

TEST_F(LiveRunTest, AnOpenCallLastsUntilTheLook) {
  spool::Writer& writer = spool("p");
  LocationGroup process;
  process.hostname = os::hostname();  // ticks of other hosts cannot be compared with now
  writer.define_process(process, "");
  spool::Pen pen(writer, 0);
  pen.enter(os::now(), 0);
  LiveReader reader(run());
  const auto end_of = [&] {
    const auto source = reader.look();
    return events_of(*source).back().time;
  };
  const Timestamp first = end_of(), second = end_of();
  EXPECT_LT(first, second);
  pen.leave(os::now(), 0);
  pen.retire();
  end(writer);
}

TEST_F(LiveRunTest, RegionsKeepTheirNumbers) {
  spool("p", {"f", "g"});
  LiveReader reader(run());
  // More definitions may come while the process runs.
  Lines regions{"f", "g", "(definition lost)"};
  EXPECT_EQ(regions_of(*reader.look()), regions);
  spool("a", {"h", "g", "f"});  // the regions of this process would come first
  regions.push_back("h");
  EXPECT_EQ(regions_of(*reader.look()), regions);
  EXPECT_EQ(regions_of(*reader.look()), regions);
}

TEST_F(LiveRunTest, AnotherRunAtItsPathIsRefused) {
  spool("p");
  LiveReader reader(run());
  fs::rename(run(), directory_ / "moved");
  EXPECT_THROW(reader.look(), Error);
  fs::create_directories(run() / "spool");
  EXPECT_THROW(reader.look(), Error);
  EXPECT_FALSE(reader.was_woven());
  fs::remove_all(run());
  fs::rename(directory_ / "moved", run());
  EXPECT_NE(reader.look(), nullptr);
}

}  // namespace
}  // namespace timeloom::weave
