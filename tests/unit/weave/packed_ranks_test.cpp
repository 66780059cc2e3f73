// Ranks that pack their own events leave the same run as their records.
#include "weave/ranks/packed_ranks.hpp"

#include <sys/resource.h>

#include <csignal>
#include <thread>

#include "formats/cube/cube_profile.hpp"
#include "formats/packed/packed.hpp"
#include "formats/packed/packed_definitions.hpp"
#include "formats/packed/packed_file.hpp"
#include "ranks_fixture.hpp"
#include "run/open_directory.hpp"
#include "weave/ranks/rank_weave.hpp"

namespace timeloom::weave {
namespace {

bool equal(const Event& a, const Event& b) {
  return a.time == b.time && a.kind == b.kind && a.ref == b.ref && a.value == b.value;
}

class PackedRanksTest : public RanksTest {
 protected:
  PackedRanksTest() { packed_ = true; }

  void pack(std::uint32_t number, bool keep_log = false) {
    weave_rank(spool_of(number), 3, 0, {KnownDirectory(run()), keep_log});
  }
  fs::path host_file() const { return run() / "spool" / host_file_name(); }
  fs::path log_of(std::uint32_t number) const { return spool_of(number) / "log"; }
  std::uint64_t size_of_host_file() const {
    return fs::exists(host_file()) ? fs::file_size(host_file()) : 0;
  }

  fs::path copy_of_run(const char* name) const {
    const fs::path copy = directory_.path() / name;
    fs::remove_all(copy);
    fs::copy(run(), copy, fs::copy_options::recursive);
    return copy;
  }

  struct Trace {
    std::unique_ptr<Collector> all;
    Definitions definitions;
    std::size_t parts = 0;
  };
  static Trace trace_of(const fs::path& run) {
    const auto source = packed::open(run / "traces.packed");
    Trace trace{collect(*source), source->definitions()};
    const packed::FileReader file(run / "traces.packed");
    for (const packed::Section& section : file.sections()) {
      trace.parts += section.head.kind == packed::SectionKind::kPart ? 1 : 0;
    }
    return trace;
  }

  // What weaving the records gives.
  void keep_expected() {
    const fs::path copy = copy_of_run("of records");
    weave(copy);
    expected_ = trace_of(copy);
    ASSERT_EQ(expected_.parts, 0u);
    profile_ = sums_of(copy);
  }
  void expect_same(const Trace& trace) {
    EXPECT_EQ(trace.all->lines, expected_.all->lines);
    ASSERT_EQ(trace.all->events.size(), expected_.all->events.size());
    for (const auto& [name, events] : trace.all->events) {
      EXPECT_TRUE(std::ranges::equal(events, expected_.all->events.at(name), equal)) << name;
    }
    EXPECT_EQ(packed::bytes_of(trace.definitions), packed::bytes_of(expected_.definitions));
    EXPECT_EQ(trace.definitions.properties, expected_.definitions.properties);
  }
  // Visits of each region, and the number of locations with it.
  static std::map<std::string, std::uint64_t> sums_of(const fs::path& run) {
    std::map<std::string, std::uint64_t> sums;
    const profile::CallTree tree = cube::load(cube::Reader(run / "profile.cubex"));
    for (const auto& location : tree.locations) {
      for (const profile::Cell& cell : location.cells) {
        const profile::Node& node = tree.nodes[cell.node.value()];
        if (!node.region.defined()) continue;
        sums[tree.definitions.regions[node.region.value()].name] += cell.statistics.visits;
      }
    }
    return sums;
  }
  static void flip(const fs::path& file, std::uint64_t at) {
    std::string bytes = test::read_bytes(file);
    bytes.at(at) = static_cast<char>(bytes[at] ^ 1);
    test::write_bytes(file, bytes);
  }
  std::vector<packed::RankPart> parts() const {
    int error = 0;
    return packed::find_ranks(os::File::open_read(host_file().string(), &error));
  }

  Trace expected_;
  std::map<std::string, std::uint64_t> profile_;
};

TEST_F(PackedRanksTest, GiveTheSameEventsWordForWord) {
  record_three();
  keep_expected();
  for (const std::uint32_t number : {2u, 0u, 1u}) {
    pack(number);
    EXPECT_FALSE(fs::exists(log_of(number)));
    EXPECT_FALSE(fs::exists(spool_of(number) / kConvertedName));
  }
  EXPECT_EQ(parts().size(), 3u);
  weave(run());
  const Trace trace = trace_of(run());
  EXPECT_EQ(trace.parts, 3u);
  expect_same(trace);
  EXPECT_EQ(sums_of(run()), profile_);
  EXPECT_FALSE(fs::exists(run() / "spool"));
}

TEST_F(PackedRanksTest, LieBesideRanksThatHaveNotPacked) {
  record(0, {"main", "f", "g"});
  spool::Writer& killed = rank(1, {"main", "f"});
  write_calls(killed, 0, 3);
  kill("rank-1/p-1-1-0");
  record(2, {"other main", "h", "f"});
  keep_expected();
  for (const std::uint32_t number : {0u, 1u, 2u}) pack(number);
  EXPECT_TRUE(fs::exists(spool_of(1) / "ring"));
  weave(run());
  const Trace trace = trace_of(run());
  EXPECT_EQ(trace.parts, 2u);
  expect_same(trace);
}

// Blocks are unpacked where they cannot be taken as they are.
TEST_F(PackedRanksTest, BecomeAnOtf2TraceAsTheirRecords) {
  record_three();
  const fs::path copy = copy_of_run("of records");
  for (const std::uint32_t number : {0u, 1u, 2u}) pack(number);
  for (const fs::path& one : {copy, run()}) {
    // With one thread, because the order of OTF2's strings depends on the order of the locations.
    weave(one, {.threads = 1, .packed = false});
  }
  for (const char* name : {"traces.def", "traces/0.evt", "traces/1.evt", "traces/2.evt"}) {
    EXPECT_TRUE(test::read_bytes(copy / name) == test::read_bytes(run() / name)) << name;
  }
  EXPECT_EQ(sums_of(copy), sums_of(run()));
}

TEST_F(PackedRanksTest, ALogThatIsKeptIsNotRead) {
  record_three();
  keep_expected();
  for (const std::uint32_t number : {0u, 1u, 2u}) pack(number, true);
  for (const std::uint32_t number : {0u, 1u, 2u}) EXPECT_TRUE(fs::exists(log_of(number)));
  const fs::path copy = copy_of_run("copy");
  weave(copy);
  EXPECT_EQ(trace_of(copy).parts, 3u);
  // Their segments are damaged, but the parts are whole.
  for (const std::uint32_t number : {0u, 1u, 2u}) flip(log_of(number), 100);
  weave(run());
  expect_same(trace_of(run()));
}

TEST_F(PackedRanksTest, ADamagedBlockIsCountedAndTheRestIsThere) {
  record_three();
  keep_expected();
  for (const std::uint32_t number : {0u, 1u, 2u}) pack(number);
  flip(host_file(), parts()[1].blocks_at + 70);
  const WeaveSummary summary = weave(run());
  EXPECT_EQ(summary.damaged_segments, 1u);
  EXPECT_TRUE(fs::exists(run() / "spool"));  // for somebody who has a copy of the file
  const Trace trace = trace_of(run());
  EXPECT_EQ(trace.parts, 2u);
  for (const auto& [name, lines] : expected_.all->lines) {
    if (name.starts_with("MPI Rank 1")) {
      EXPECT_TRUE(trace.all->lines.at(name).empty());
    } else {
      EXPECT_EQ(trace.all->lines.at(name), lines);
    }
  }
}

TEST_F(PackedRanksTest, ADamagedResultCostsItsRankOnly) {
  record_three();
  keep_expected();
  for (const std::uint32_t number : {0u, 1u, 2u}) pack(number);
  for (const std::uint64_t back : {std::uint64_t{0}, sizeof(packed::SectionHead)}) {
    const fs::path copy = copy_of_run("copy");
    flip(copy / "spool" / host_file_name(), parts()[0].about.at + 8 - back);
    EXPECT_GT(weave(copy).damaged_segments, 0u);
    const Trace trace = trace_of(copy);
    EXPECT_EQ(trace.all->lines.at("MPI Rank 1/main"), expected_.all->lines.at("MPI Rank 1/main"));
    EXPECT_EQ(trace.all->lines.at("MPI Rank 2/main"), expected_.all->lines.at("MPI Rank 2/main"));
  }
}

// Wherever the append of a rank ends, its records are read, and the next rank finds its place.
TEST_F(PackedRanksTest, AnAppendThatWasCutOffCostsNothing) {
  record_three();
  keep_expected();
  pack(0);
  const std::uint64_t before = size_of_host_file();
  pack(1, true);
  const std::string both = test::read_bytes(host_file());
  const std::uint64_t step = std::max<std::uint64_t>(1, (both.size() - before) / 9);
  for (std::uint64_t size = before; size < both.size(); size += step) {
    // The section of the rank is written last.
    std::string torn = both.substr(0, size);
    std::fill(torn.begin() + static_cast<std::ptrdiff_t>(before),
              torn.begin() + static_cast<std::ptrdiff_t>(std::min(size, before + 64)), '\0');
    const fs::path copy = copy_of_run("copy");
    test::write_bytes(copy / "spool" / host_file_name(), torn);
    const fs::path spool = copy / fs::relative(spool_of(2), run());
    weave_rank(spool, 3, 0, {KnownDirectory(copy), false});
    EXPECT_FALSE(fs::exists(spool / "log"));
    weave(copy);
    const Trace trace = trace_of(copy);
    EXPECT_EQ(trace.parts, 2u) << size;
    expect_same(trace);
  }
}

TEST_F(PackedRanksTest, AppendAtTheSameTime) {
  record_three();
  keep_expected();
  std::vector<std::thread> ranks;
  for (const std::uint32_t number : {0u, 1u, 2u}) ranks.emplace_back([=, this] { pack(number); });
  for (std::thread& one : ranks) one.join();
  EXPECT_EQ(parts().size(), 3u);
  weave(run());
  expect_same(trace_of(run()));
}

// A file that may not grow is as a full disk: an error in the middle of the append.
TEST_F(PackedRanksTest, WithoutRoomTheRecordsStay) {
  record_three();
  keep_expected();
  pack(0);
  const std::uint64_t before = size_of_host_file();
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  for (const std::uint64_t more : {1u, 100u, 1000u}) {
    const rlimit small{before + more, limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_NE(error_of([&] { pack(1); }), "none") << more;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    EXPECT_EQ(size_of_host_file(), before);
    EXPECT_TRUE(fs::exists(log_of(1)));
    EXPECT_FALSE(fs::exists(spool_of(1) / kConvertedName));
  }
  std::signal(SIGXFSZ, ignored);
  pack(2);
  weave(run());
  const Trace trace = trace_of(run());
  EXPECT_EQ(trace.parts, 2u);
  expect_same(trace);
}

TEST_F(PackedRanksTest, DoNotFollowLinks) {
  record_three();
  keep_expected();
  const fs::path victim = directory_.path() / "victim";
  test::write_bytes(victim, "precious");
  fs::create_symlink(victim, host_file());
  pack(0);
  EXPECT_TRUE(fs::exists(log_of(0)));
  fs::remove(host_file());
  fs::create_hard_link(victim, host_file());
  pack(1);
  EXPECT_TRUE(fs::exists(log_of(1)));
  EXPECT_EQ(test::read_bytes(victim), "precious");
  fs::remove(host_file());
  weave(run());
  expect_same(trace_of(run()));
}

// A weave that reads the logs has the run until it is done.
TEST_F(PackedRanksTest, ALogStaysWhileTheRunIsWoven) {
  record_three();
  keep_expected();
  {
    const run::Directory woven(run());
    ASSERT_TRUE(woven.try_lock());
    pack(0);
    EXPECT_TRUE(fs::exists(log_of(0)));
  }
  EXPECT_EQ(parts().size(), 1u);
  weave(run());
  const Trace trace = trace_of(run());
  EXPECT_EQ(trace.parts, 1u);
  expect_same(trace);
}

// A trace may be forged: no id leads out of the tables of the run.
TEST_F(PackedRanksTest, APartThatRefersToNothingIsLost) {
  record_three();
  keep_expected();
  for (const std::uint32_t number : {0u, 1u, 2u}) pack(number);
  weave(run());
  const fs::path file = run() / "traces.packed";
  const std::string sound = test::read_bytes(file);
  const packed::FileReader reader(file);
  for (const packed::Section& section : reader.sections()) {
    if (section.head.kind == packed::SectionKind::kDefinitions) continue;
    test::write_bytes(file, sound);
    flip(file, section.at + section.head.size / 2);
    const auto source = packed::open(file);
    const auto all = collect(*source);
    const std::uint64_t lost = section.head.kind == packed::SectionKind::kEnd ? 0 : 1;
    EXPECT_EQ(source->definitions().properties.contains(packed::kLostBlocks), true);
    std::size_t complete = 0;
    for (const auto& [name, lines] : expected_.all->lines) {
      complete += all->lines.at(name) == lines ? 1 : 0;
    }
    EXPECT_EQ(complete, expected_.all->lines.size() - lost);
  }
}

}  // namespace
}  // namespace timeloom::weave
