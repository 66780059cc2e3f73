// Conversions made by ranks give the same run as their records.
#include "weave/ranks/rank_result.hpp"

#include <dlfcn.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "core/mpi/spawned.hpp"
#include "core/run_properties.hpp"
#include "formats/cube/cube_profile.hpp"
#include "ranks_fixture.hpp"
#include "symbols/elf_file.hpp"
#include "weave/ranks/rank_weave.hpp"

extern "C" int function_of_the_rank_test(int n) { return n + 1; }

namespace timeloom::weave {
namespace {

// The events of a run, by location.
struct Woven {
  std::map<std::string, Lines> lines;
  std::map<std::string, std::vector<Event>> events;
  std::map<std::string, std::string> properties;
  ClockProperties clock;
  std::map<std::string, profile::Statistics> visits;  // by location and call path
  std::map<std::string, profile::MetricStatistics> values;
};

class ConversionTest : public RanksTest {
 protected:
  // Weaves a copy of the run; uses its conversions only with `rank_results`.
  Woven woven(bool rank_results) {
    const fs::path copy = directory_.path() / "copy";
    fs::remove_all(copy);
    fs::copy(run(), copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    for (std::uint32_t number = 0; number < 3; ++number) {
      const fs::path spool = copy / fs::relative(spool_of(number), run());
      if (!rank_results) fs::remove_all(spool / kConvertedName);
    }
    weave(copy);
    Woven result;
    const auto trace = otf2::open(copy / "traces.otf2");
    const auto all = collect(*trace);
    result.lines = all->lines;
    result.events = all->events;
    result.properties = trace->definitions().properties;
    result.clock = trace->definitions().clock;
    add_profile(cube::load(cube::Reader(copy / "profile.cubex")), result);
    return result;
  }
  static void add_profile(const profile::CallTree& tree, Woven& result) {
    Lines paths;
    for (const profile::Node& node : tree.nodes) {
      paths.push_back((node.parent.defined() ? paths[node.parent.value()] : "") + "/" +
                      tree.definitions.regions[node.region.value()].name);
      if (!node.parameters.defined()) continue;
      paths.back() += " " + text_of(tree.parameter_sets[node.parameters.value()]);
    }
    for (std::size_t i = 0; i < tree.locations.size(); ++i) {
      const std::string group =
          tree.definitions.groups[tree.definitions.locations[i].group.value()].name;
      for (const profile::Cell& cell : tree.locations[i].cells) {
        result.visits[group + paths[cell.node.value()]] = cell.statistics;
      }
      for (const profile::MetricCell& cell : tree.locations[i].metrics) {
        const std::string metric = " " + tree.definitions.metrics[cell.metric.value()].name;
        result.values[group + paths[cell.node.value()] + metric] = cell.statistics;
      }
    }
  }
  std::size_t taken() {
    std::vector<spool::SpoolDirectory> spools;
    for (std::uint32_t number = 0; number < 3; ++number) spools.emplace_back(spool_of(number));
    return SpoolSource(spools).event_files().size();
  }

  static void expect_same(const Woven& one, const Woven& other) {
    EXPECT_EQ(one.lines, other.lines);
    EXPECT_EQ(one.properties, other.properties);
    EXPECT_EQ(one.values, other.values);
    ASSERT_EQ(one.visits.size(), other.visits.size());
    for (const auto& [path, visits] : one.visits) {
      const profile::Statistics& others = other.visits.at(path);
      EXPECT_EQ(visits.visits, others.visits) << path;
      EXPECT_NEAR(static_cast<double>(visits.inclusive), static_cast<double>(others.inclusive),
                  3e-6 * static_cast<double>(others.inclusive) + 1)
          << path;
    }
    EXPECT_EQ(one.clock.begin, other.clock.begin);
    EXPECT_NEAR(static_cast<double>(one.clock.length), static_cast<double>(other.clock.length), 1);
    for (const auto& [name, events] : one.events) {
      const auto& others = other.events.at(name);
      ASSERT_EQ(events.size(), others.size());
      for (std::size_t i = 0; i < events.size(); ++i) {
        EXPECT_NEAR(static_cast<double>(ticks(events[i].time)),
                    static_cast<double>(ticks(others[i].time)), 1)
            << name << " " << i;
      }
    }
  }
};

// Two addresses in one function are two regions for the rank and one region for the run.
TEST_F(ConversionTest, LeavesTheNamesOfCompiledCodeToTheRun) {
  object_.path = fs::read_symlink("/proc/self/exe");
  const auto program = symbols::ElfFile::open(object_.path);
  object_.build_id = program->build_id();
  object_.size = program->size();
  object_.changed_ns = program->changed_ns();
  Dl_info info{};
  const auto function = reinterpret_cast<std::uint64_t>(&function_of_the_rank_test);
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(function), &info), 0);
  const std::uint64_t address = function - reinterpret_cast<std::uint64_t>(info.dli_fbase);
  code_ = {{1, {0, address}}, {2, {0, address + 1}}};
  record_three();
  for (const std::uint32_t number : {0u, 1u, 2u}) weave_rank(spool_of(number), 3);
  EXPECT_EQ(taken(), 3u);
  const Woven with = woven(true);
  expect_same(with, woven(false));
  for (const auto& [location, lines] : with.lines) {
    EXPECT_GE(std::ranges::count(lines, "enter function_of_the_rank_test"), 40) << location;
  }
}

TEST_F(ConversionTest, GivesTheSameRun) {
  record_three();
  for (const std::uint32_t number : {0u, 2u}) weave_rank(spool_of(number), 3);
  EXPECT_EQ(taken(), 2u);
  expect_same(woven(true), woven(false));
  weave_rank(spool_of(1), 3);
  EXPECT_EQ(taken(), 3u);
  expect_same(woven(true), woven(false));
}

// The events of the run then come from the conversion, not from records that were read again.
TEST_F(ConversionTest, IsReadInPlaceOfTheRecords) {
  record_three();
  const Woven expected = woven(false);
  for (std::uint32_t number = 0; number < 3; ++number) {
    weave_rank(spool_of(number), 3);
    std::string log = test::read_bytes(spool_of(number) / "log");
    for (std::size_t at = 0; at < log.size();) {  // heads of segments stay
      std::uint32_t size = 0;
      std::memcpy(&size, &log[at + offsetof(spool::SegmentHeader, size)], sizeof size);
      at += sizeof(spool::SegmentHeader);
      log.replace(at, size, size, 'x');
      at += size;
    }
    test::write_bytes(spool_of(number) / "log", log);
  }
  expect_same(woven(true), expected);
}

TEST_F(ConversionTest, OfWhatIsNotSoundTheRecordsAreRead) {
  record_three();
  const Woven expected = woven(false);
  weave_rank(spool_of(0), 3);
  const fs::path result = spool_of(0) / kConvertedName / "result";
  const std::string sound = test::read_bytes(result);
  ASSERT_EQ(taken(), 1u);
  for (const std::size_t at : {std::size_t{0}, std::size_t{9}, std::size_t{17}, std::size_t{30},
                               sound.size() / 2, sound.size() - 1}) {
    std::string changed = sound;
    changed[at] = static_cast<char>(changed[at] + 1);
    test::write_bytes(result, changed);
    EXPECT_EQ(taken(), 0u) << at;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{63}, sound.size() - 8}) {
    test::write_bytes(result, sound.substr(0, size));
    EXPECT_EQ(taken(), 0u) << size;
  }
  expect_same(woven(true), expected);
  test::write_bytes(result, sound);
  EXPECT_EQ(taken(), 1u);
  const fs::path events = spool_of(0) / event_file(LocationId{0});
  const std::string bytes = test::read_bytes(events);
  test::write_bytes(events, bytes.substr(1));
  EXPECT_EQ(taken(), 0u);
  std::string other = bytes;
  other[bytes.size() / 2] = static_cast<char>(other[bytes.size() / 2] + 1);
  test::write_bytes(events, other);
  EXPECT_EQ(taken(), 0u);
  test::write_bytes(events, bytes);
  EXPECT_EQ(taken(), 1u);
  fs::rename(events, run() / "elsewhere");
  EXPECT_EQ(taken(), 0u);
  fs::create_symlink(run() / "elsewhere", events);
  EXPECT_EQ(taken(), 0u);
  fs::remove(events);
  fs::create_directory(events);
  EXPECT_EQ(taken(), 0u);
  expect_same(woven(true), expected);
}

// The conversion may be forged.
TEST_F(ConversionTest, WhatRefersToNothingIsNotTaken) {
  record_three();
  weave_rank(spool_of(0), 3);
  const std::optional<RankResult> sound = read_rank_result(spool_of(0));
  ASSERT_TRUE(sound);
  EXPECT_GT(sound->counts.cpu_ns, 0u);
  const auto taken_with = [&](auto change) {
    RankResult one = *sound;
    change(one);
    write_rank_result(one, spool_of(0) / kConvertedName);
    return taken();
  };
  EXPECT_EQ(taken_with([](RankResult&) {}), 1u);
  using C = RankResult;
  EXPECT_EQ(taken_with([](C& c) { c.locations[0].aggregated.nodes[2].parent = 2; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.locations[0].aggregated.nodes[2].region = 77; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.locations[0].aggregated.parameters[0].node = 1 << 20; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.locations[0].aggregated.metrics[0].metric = MetricId{}; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.locations[0].index = 5; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.locations.clear(); }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.ids.regions[0] = 1000; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.ids.metrics.pop_back(); }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.end = c.begin; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.with_profile = false; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { ++c.definitions; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.references.metrics[0].first = 1000; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.references.metrics[0].reference = UINT32_MAX; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.references.metrics[0].reference = UINT32_MAX - 1; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.references.offset_attribute = UINT32_MAX; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.references.first_communicator = 100'000'000; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.references.strings.pop_back(); }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.references.string_references.back() = 0; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.begin.time = 0; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.end.time = UINT64_MAX; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.locations[0].count.last = UINT64_MAX; }), 0u);
  EXPECT_EQ(taken_with([](C& c) { c.locations[0].aggregated.first = Timestamp{1}; }), 0u);
}

// OTF2 has one definition for metrics that are sampled together, with all of them.
TEST_F(ConversionTest, OfOtherMetricsThatAreSampledTogetherTheRecordsAreRead) {
  for (const std::uint32_t number : {0u, 1u, 2u}) {
    spool::Writer& writer = rank(number, {"main", "f"});
    const std::uint32_t metrics = number == 0 ? 2 : 3;
    for (std::uint32_t i = 0; i < metrics; ++i) {
      Metric metric{"sampled " + std::to_string(i), "#", ""};
      metric.set = "together";
      writer.define_metric(MetricId{10 + i}, metric);
    }
    spool::Pen pen(writer, 0);
    pen.enter(begin_of(number) + 1000, 0);
    for (std::uint32_t i = 0; i < metrics; ++i) {
      pen.valued(begin_of(number) + 1000, EventKind::kMetric, 10 + i, i);
    }
    pen.leave(begin_of(number) + 2000, 0);
    pen.retire();
    writer.close();
    weave_rank(spool_of(number), 3);
  }
  EXPECT_EQ(taken(), 2u);
  expect_same(woven(true), woven(false));
}

TEST_F(ConversionTest, CountsWhatTheRecordsCount) {
  spool::Writer& writer = rank(0, {"main", "f"});
  spool::Pen pen(writer, 0);
  pen.enter(begin_of(0) + 1000, 0);
  pen.leave(begin_of(0) + 1100, 1);  // of nothing
  pen.enter(begin_of(0) + 1200, 1);  // and left open
  pen.retire();
  writer.close();
  spool::Writer& killed = rank(1, {"main", "f"});
  write_calls(killed, 0, 3);
  kill("rank-1/p-1-1-0");
  record(2, {"main", "f", "g"});
  for (const std::uint32_t number : {0u, 2u}) weave_rank(spool_of(number), 3);
  EXPECT_EQ(taken(), 2u);
  const Woven got = woven(true);
  expect_same(got, woven(false));
  EXPECT_EQ(got.properties.at("timeloom::dropped_events"), "1");
  EXPECT_EQ(got.properties.at("timeloom::closed_regions"), "2");
}

// A later failure of a conversion must not keep the records from being woven.
TEST_F(ConversionTest, WhereItCannotBeWrittenTheRecordsAreRead) {
  record_three();
  const Woven expected = woven(false);
  weave_rank(spool_of(0), 3);
  std::optional<RankResult> one = read_rank_result(spool_of(0));
  ASSERT_TRUE(one);
  one->references.strings.assign(3'000'000, "x");  // their table is larger than a chunk
  one->references.string_references.resize(3'000'000);
  std::iota(one->references.string_references.begin(), one->references.string_references.end(), 0u);
  write_rank_result(*one, spool_of(0) / kConvertedName);
  EXPECT_EQ(taken(), 1u);
  expect_same(woven(true), expected);
}

TEST_F(ConversionTest, IsLeftToTheWeaveWhereItCannotBeComplete) {
  record(0, {"main", "f", "g"});
  spool::Writer& spawned = rank(1, {"main", "f"});
  spawned.define_property(kSpawn, "1");
  write_calls(spawned, 0, 3);
  spawned.close();
  spool::Writer& killed = rank(2, {"main", "f"});
  write_calls(killed, 0, 3);
  kill("rank-2/p-1-1-0");
  for (const std::uint32_t number : {0u, 1u, 2u}) weave_rank(spool_of(number), 3);
  EXPECT_TRUE(fs::exists(spool_of(0) / kConvertedName));
  EXPECT_FALSE(fs::exists(spool_of(1) / kConvertedName));
  EXPECT_FALSE(fs::exists(spool_of(2) / kConvertedName));
  EXPECT_NE(error_of([&] { weave_rank(spool_of(0), 3); }), "none");  // once is enough
  EXPECT_EQ(taken(), 1u);
}

}  // namespace
}  // namespace timeloom::weave
