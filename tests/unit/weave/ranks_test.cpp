// Runs of ranks: their spools, names, order, children; hosts and their clocks.
#include <fstream>

#include "core/mpi/mpi_rank.hpp"
#include "core/run_properties.hpp"
#include "run/job.hpp"
#include "weave_fixture.hpp"

namespace timeloom::weave {
namespace {

class RanksTest : public WeaveTest {
 protected:
  // A spool that starts when the monotonic clock of its host shows `monotonic` s, and lasts one
  // second. A tick is a nanosecond, and all start at the same time.
  spool::Writer& begin(const std::string& place, const std::string& host, std::uint64_t monotonic) {
    clock_is_lost_ = true;  // so that there are no others
    fs::create_directories((run() / "spool" / place).parent_path());
    spool::Writer& writer = spool(place);
    constexpr std::uint64_t kSecond = 1'000'000'000, kToday = 1'700'000'000;
    for (const std::uint64_t second : {0u, 1u}) {
      writer.define_clock_sync({ticks(host) + second * kSecond, (monotonic + second) * kSecond,
                                (kToday + second) * kSecond});
    }
    return writer;
  }
  static std::uint64_t ticks(const std::string& host) { return 1'000'000'000'000 * host.size(); }

  // The process `name` on the host.
  spool::Writer& process(const std::string& place, const std::string& host, const std::string& name,
                         const std::string& parent = "", std::uint64_t monotonic = 100) {
    spool::Writer& writer = begin(place, host, monotonic);
    writer.define_process({name, host, 7, "", {}, {}, ""}, parent);
    return writer;
  }
  spool::Writer& rank(std::uint32_t number, const std::string& host = "a",
                      std::uint64_t monotonic = 100) {
    const std::string text = std::to_string(number);
    spool::Writer& writer = process("rank-" + text + "/p-1-1-0", host, "app.py", "", monotonic);
    writer.define_property(kRank, text);
    return writer;
  }
  Definitions woven() {
    for (auto& writer : writers_) writer->close();
    weave(run());
    return otf2::open(run() / "traces.otf2")->definitions();
  }
  Lines groups(const Definitions& definitions) const {
    Lines names;
    for (const LocationGroup& group : definitions.groups) {
      names.push_back(group.name + " on " + group.hostname);
    }
    return names;
  }
};

TEST_F(RanksTest, AreInTheirOrderEachWithItsChildren) {
  rank(10, "b");
  rank(2, "a");
  process("rank-2/p-2-2-0", "a", "child", "p-1-1-0");  // the same name of the parent in each rank
  process("rank-10/p-2-2-0", "b", "child", "p-1-1-0");
  rank(0, "a");
  const Definitions definitions = woven();
  EXPECT_EQ(groups(definitions), (Lines{"MPI Rank 0 on a", "MPI Rank 2 on a", "child on a",
                                        "MPI Rank 10 on b", "child on b"}));
  EXPECT_EQ(definitions.groups[2].creator, LocationGroupId{1});
  EXPECT_EQ(definitions.groups[4].creator, LocationGroupId{3});
  EXPECT_FALSE(definitions.groups[3].creator.defined());
  EXPECT_EQ(job_rank_of(definitions.groups[3]), 10u);
  EXPECT_EQ(job_rank_of(definitions.groups[4]), std::nullopt);
  EXPECT_FALSE(definitions.properties.contains(kRank));
  EXPECT_FALSE(fs::exists(run() / "spool"));
}

TEST_F(RanksTest, OfALauncherThatIsNoneOfMpiAreCalledSo) {
  rank(1, "a").define_property(kPlainRank, "1");
  rank(0, "a").define_property(kPlainRank, "1");
  const Definitions definitions = woven();
  EXPECT_EQ(groups(definitions), (Lines{"Rank 0 on a", "Rank 1 on a"}));
  EXPECT_EQ(job_rank_of(definitions.groups[1]), 1u);
  EXPECT_FALSE(definitions.properties.contains(kPlainRank));
}

TEST_F(RanksTest, ComeFirstWhereIdsBeginWithTheRank) {
  for (const std::uint32_t number : {1u, 0u}) {
    rank(number).define_property(kLayout, "scorep");
    process("rank-" + std::to_string(number) + "/p-2-2-0", "a", "child", "p-1-1-0");
  }
  const Definitions definitions = woven();
  EXPECT_EQ(groups(definitions),
            (Lines{"MPI Rank 0 on a", "MPI Rank 1 on a", "child on a", "child on a"}));
  for (const std::uint64_t id : {0u, 1u, 2u, 3u}) {
    EXPECT_EQ(definitions.locations[id].id, LocationId{id});
  }
}

TEST_F(RanksTest, ARankThatIsNoNumberIsNone) {
  rank(0);
  process("rank-1/p-1-1-0", "a", "app.py").define_property(kRank, "-1");
  EXPECT_EQ(groups(woven()), (Lines{"MPI Rank 0 on a", "app.py on a"}));
}

TEST_F(RanksTest, TheClocksOfHostsAreCountedFromOneBegin) {
  std::uint32_t number = 0;
  for (const auto& [host, monotonic] : {std::pair("a", 100u), {"bb", 5u}, {"ccc", 7000u}}) {
    spool::Writer& writer = rank(number++, host, monotonic);
    spool::Pen pen(writer, 0);
    pen.enter(ticks(host) + 500'000'000, 0);
    pen.leave(ticks(host) + 600'000'000, 0);
  }
  const Definitions definitions = woven();
  const auto collected = collect(*otf2::open(run() / "traces.otf2"));
  ASSERT_EQ(collected->events.size(), 3u);
  for (const auto& [name, events] : collected->events) {
    for (const Event& event : events) {
      if (event.kind != EventKind::kEnter) continue;
      const std::uint64_t since = timeloom::ticks(event.time) - definitions.clock.begin;
      EXPECT_NEAR(static_cast<double>(since), 5e8, 10) << name;
    }
  }
  EXPECT_NEAR(static_cast<double>(definitions.clock.length), 1e9, 10);
}

TEST_F(RanksTest, TheJobIsForgottenWithTheSpools) {
  const run::JobPointer pointer(directory_.path(), "job", "run");
  ASSERT_TRUE(pointer.claim());
  rank(0);
  run::mark_job(run(), "job", "run");
  pointer.publish(run());
  for (auto& writer : writers_) writer->close();
  weave(run(), {.more_ranks = true});
  EXPECT_TRUE(unfinished(run()) && pointer.exists());  // ranks that come later join it
  weave(run());
  EXPECT_FALSE(unfinished(run()) || pointer.exists());
}

}  // namespace
}  // namespace timeloom::weave
