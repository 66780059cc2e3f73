#include "formats/cube/cube_profile.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "core/samples/sampled_time.hpp"
#include "cube_text.hpp"
#include "profile/story.hpp"
#include "support/bytes.hpp"
#include "support/temp_directory.hpp"

namespace timeloom::cube {
namespace {

using profile::CallTree;
using profile::Story;

CallTree through_a_file(const CallTree& tree, std::string* bytes = nullptr) {
  const test::TempDirectory directory;
  const auto file = directory.path() / "profile.cubex";
  EXPECT_TRUE(save(tree, file, {.parameters = 3}));
  if (bytes != nullptr) *bytes = test::read_bytes(file);
  return load(file);
}

Story story_of_threads() {
  Story story;
  story.thread("main", "a +5 b +20 d +5 ) d +7 ) +20 ) c +30 ) +5 )")
      .thread("worker", "b +4 d +1 ) ) a +3 )")
      .thread("main of the child", "a +40 b +1 ) )", 1);
  story.definitions().clock.ticks_per_second = 1'000'000'000;
  return story;
}

TEST(ProfileFile, ReturnsTheTree) {
  const CallTree tree = story_of_threads().fold();
  const CallTree again = through_a_file(tree);
  EXPECT_EQ(again.nodes, tree.nodes);
  EXPECT_EQ(again.locations, tree.locations);
}

TEST(ProfileFile, ReturnsParametersAndCounters) {
  Story story;
  story.thread("main", "a n=1 +1 b +2 ) who:me&you +3 ) a rss#4 rss#-9 n=2 +1 ) b rss#1 )")
      .thread("other", "a n=1 b rss#5 my_size#6 +1 ) )");
  story.definitions().metrics[1].name = "my size";
  story.definitions().clock.ticks_per_second = 1'000'000'000;
  const CallTree tree = story.fold();
  std::string bytes;
  const CallTree again = through_a_file(tree, &bytes);
  EXPECT_EQ(describe(again), describe(tree));
  ASSERT_EQ(again.definitions.metrics.size(), 2u);
  EXPECT_EQ(again.definitions.metrics[1].name, "my size");
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again.locations[i].metrics, tree.locations[i].metrics);
  }
  EXPECT_EQ(read_text(bytes).cube().metrics.back().unique_name, "my_size");
}

// In seconds, a number that all readers know. Only where calls are made of samples, the visits tell
// their number.
TEST(ProfileFile, ReturnsTheTimeOfSamples) {
  Story story;
  story.thread("main", "a time#1000003 +1 b time#2000000 time#500000 +2 ) +1 )");
  story.definitions().metrics[0] = sampled_time_metric();
  story.definitions().clock.ticks_per_second = 1'000'000'000;
  for (const bool sampled_calls : {false, true}) {
    if (sampled_calls) story.definitions().properties[kSampledCalls] = kStacksInHandler;
    std::string bytes;
    const CallTree again = through_a_file(story.fold(), &bytes);
    const Metric metric = read_text(bytes).cube().metrics.back();
    EXPECT_EQ(metric.unique_name, "sampled_time");
    EXPECT_EQ(metric.unit, "sec");
    EXPECT_EQ(metric.type.type, DataType::kDouble);
    ASSERT_EQ(again.definitions.metrics.size(), 1u);
    EXPECT_TRUE(is_sampled_time(again.definitions.metrics[0]));
    EXPECT_EQ(again.definitions.metrics[0].unit, "ns");
    const auto& cells = again.locations[0].metrics;
    ASSERT_EQ(cells.size(), 2u);
    EXPECT_EQ(cells[0].statistics.sum, 1'000'003);
    EXPECT_EQ(cells[1].statistics.sum, 2'500'000);
    EXPECT_EQ(cells[1].statistics.count, sampled_calls ? 2u : 1u);
    EXPECT_EQ(cells[1].statistics.min, sampled_calls ? 500'000 : 2'500'000);
  }
}

TEST(ProfileFile, ReturnsSampledMetrics) {
  Story story;
  story
      .thread(
          "main",
          "cpu#10 top#3 a cpu#14 top#9 b cpu#15 +1 ) cpu#25 top#4 +1 ) cpu#30 a cpu#31 top#2 +1 )")
      .thread("other", "cpu#1 a cpu#14 +1 ) cpu#15 a cpu#18 +1 )");
  for (timeloom::Metric& metric : story.definitions().metrics) {
    metric.type = MetricValueType::kUint64;
    metric.set = "thread:";
    metric.mode = MetricMode::kAbsoluteNext;
  }
  story.definitions().metrics[0].mode = MetricMode::kAccumulatedStart;
  story.definitions().clock.ticks_per_second = 1'000'000'000;
  const CallTree tree = story.fold();
  std::string bytes;
  const CallTree again = through_a_file(tree, &bytes);
  EXPECT_EQ(tree.locations[0].samples.size(), 5u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again.locations[i].samples, tree.locations[i].samples);
  }
  const Reader reader = read_text(bytes);
  EXPECT_EQ(reader.cube().metrics[4].kind, MetricKind::kInclusive);
  EXPECT_EQ(reader.cube().metrics[5].type.type, DataType::kMaxDouble);
}

TEST(ProfileFile, ReturnsTheFactsOfTheRun) {
  Story story = story_of_threads();
  Definitions& all = story.definitions();
  all.clock.realtime = 1'700'000'000'123'456'789;
  all.creator = "Timeloom";
  all.machine_name = "box";
  all.properties["timeloom::lost_events"] = "3";
  all.groups[1].creator = LocationGroupId{0};
  all.groups[1].ending = "killed";
  all.groups[1].hostname = "other";
  all.locations[1].thread_id = 77;
  all.regions[1].group = "module";
  all.regions[1].paradigm = Paradigm::kUser;
  all.regions[1].role = RegionRole::kFunction;
  const CallTree tree = story.fold();
  const Definitions again = through_a_file(tree).definitions;
  EXPECT_EQ(again.clock.realtime, all.clock.realtime);
  EXPECT_EQ(again.clock.length, tree.definitions.clock.length);
  EXPECT_EQ(again.creator, "Timeloom");
  EXPECT_EQ(again.machine_name, "box");
  EXPECT_EQ(again.properties, all.properties);
  ASSERT_EQ(again.groups.size(), 2u);
  EXPECT_EQ(again.groups[1].creator, LocationGroupId{0});
  EXPECT_EQ(again.groups[1].ending, "killed");
  EXPECT_EQ(again.groups[1].hostname, "other");
  EXPECT_EQ(again.groups[1].arguments, (std::vector<std::string>{"a.py"}));
  EXPECT_EQ(again.locations[1].thread_id, 77u);
  EXPECT_EQ(again.locations[2].id, tree.definitions.locations[2].id);
  EXPECT_EQ(again.locations[2].event_count, tree.definitions.locations[2].event_count);
  ASSERT_EQ(again.regions.size(), tree.definitions.regions.size());
  EXPECT_EQ(again.regions[1].group, "module");
  EXPECT_EQ(again.regions[1].role, RegionRole::kFunction);
  EXPECT_EQ(again.regions[1].first_line, tree.definitions.regions[1].first_line);
}

// Two processes, the first with two devices. The queues lie between threads.
Story story_of_devices() {
  Story story;
  story.thread("main", "a +9 )")
      .thread("CUDA[0:7]", "k +1 )")
      .thread("main", "a +5 )", 1)
      .thread("CUDA[1:7]", "k +2 )")
      .thread("CUDA[0:7]", "k +3 )", 1)
      .thread("worker", "a +4 )");
  Definitions& all = story.definitions();
  all.clock.ticks_per_second = 1'000'000'000;
  all.contexts = {{"CUDA Context 1", "0", LocationGroupId{0}},
                  {"CUDA Context 2", "1", LocationGroupId{0}},
                  {"CUDA Context 1", "0", LocationGroupId{1}}};
  for (const std::uint32_t context : {0u, 1u, 2u}) {
    timeloom::Location& queue = all.locations[std::array{1u, 3u, 4u}[context]];
    queue.type = LocationType::kAcceleratorStream;
    queue.context = ContextId{context};
    queue.feeder = timeloom::LocationId{std::array{5u, 0u, 2u}[context]};
  }
  return story;
}

TEST(ProfileFile, ReturnsContextsOfAccelerators) {
  const CallTree tree = story_of_devices().fold();
  const CallTree again = through_a_file(tree);
  EXPECT_EQ(again.nodes, tree.nodes);
  EXPECT_EQ(again.locations, tree.locations);
  const Definitions &all = again.definitions, &expected = tree.definitions;
  ASSERT_EQ(all.contexts.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all.contexts[i].name, expected.contexts[i].name);
    EXPECT_EQ(all.contexts[i].device, expected.contexts[i].device);
    EXPECT_EQ(all.contexts[i].process, expected.contexts[i].process);
  }
  EXPECT_EQ(all.groups.size(), 2u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(all.locations[i].name, expected.locations[i].name);
    EXPECT_EQ(all.locations[i].group, expected.locations[i].group);
    EXPECT_EQ(all.locations[i].context, expected.locations[i].context);
    EXPECT_EQ(all.locations[i].feeder, expected.locations[i].feeder);
  }
}

TEST(ProfileFile, HasContextsOfAcceleratorsAsScoreP) {
  std::string bytes;
  through_a_file(story_of_devices().fold(), &bytes);
  const Reader reader = read_text(bytes);
  const Cube& cube = reader.cube();
  std::vector<std::string> lines;
  for (const SystemNode& node : cube.system_nodes) {
    const std::string above =
        node.parent.defined() ? cube.system_nodes[node.parent.value()].name : "";
    lines.push_back(node.kind + ": " + node.name + " < " + above);
  }
  for (const Group& group : cube.groups) {
    const std::string* creator = find_attribute(group.attributes, "Creating location group");
    lines.push_back(group.type + " " + std::to_string(group.rank) + ": " + group.name + " < " +
                    cube.system_nodes[group.node.value()].name + ", by " +
                    (creator == nullptr ? "" : *creator));
  }
  for (const Location& location : cube.locations) {
    lines.push_back(location.type + " " + std::to_string(location.rank) + ": " + location.name +
                    " < " + std::to_string(location.group.value()));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "machine: machine Linux < ",
                       "node: node node < machine Linux",
                       "CUDA Device: CUDA Device 0 < node node",
                       "CUDA Device: CUDA Device 1 < node node",
                       "process 0: Process < node node, by ",
                       "process 1: Process 1 < node node, by ",
                       "accelerator 2: CUDA Context 1 < CUDA Device 0, by Process",
                       "accelerator 3: CUDA Context 2 < CUDA Device 1, by Process",
                       "accelerator 4: CUDA Context 1 < CUDA Device 0, by Process 1",
                       "thread 0: main < 0",
                       "accelerator stream 0: CUDA[0:7] < 2",
                       "thread 0: main < 1",
                       "accelerator stream 0: CUDA[1:7] < 3",
                       "accelerator stream 0: CUDA[0:7] < 4",
                       "thread 1: worker < 0",
                   }));
}

TEST(ProfileFile, ReturnsCountersOfLocationsForMetrics) {
  Story story;
  story.thread("main", "a power#7 +9 )")
      .thread("CUDA[0]", "power#10 +1 use#5 power#30 +2 power#20")
      .thread("outside of regions", "power#1 a +1 )");
  story.definitions().clock.ticks_per_second = 1'000'000'000;
  story.definitions().locations[1].type = LocationType::kMetric;
  const CallTree tree = story.fold();
  ASSERT_EQ(tree.locations[1].outside.size(), 2u);
  EXPECT_EQ(tree.locations[1].outside[0],
            (profile::OutsideCell{MetricId{0}, {3, 60, 10, 30, 1400}}));
  EXPECT_EQ(tree.locations[1].outside[1], (profile::OutsideCell{MetricId{1}, {1, 5, 5, 5, 25}}));
  EXPECT_TRUE(tree.locations[0].outside.empty() && tree.locations[2].outside.empty());
  std::string bytes;
  EXPECT_EQ(through_a_file(tree, &bytes).locations, tree.locations);
  const Reader reader = read_text(bytes);
  std::string rows;
  for (const Cnode& cnode : reader.cube().cnodes) {
    rows += reader.cube().regions[cnode.region.value()].name + " ";
  }
  EXPECT_EQ(rows, "python a PER PROCESS METRICS THREADS a ");
}

TEST(ProfileFile, ReturnsRegionsNamedAsTheFormatNamesItsOwn) {
  Story story;
  story.thread("main", "a task +1 execution +2 ) ) iteration +3 b +1 ) ) COLLAPSE +4 ) )")
      .thread("worker", "task +1 ) THREADS +5 b +1 ) )");
  for (timeloom::Region& region : story.definitions().regions) {
    region.paradigm = Paradigm::kUser;
    region.file.clear();
    if (region.name == "execution") region.name = "instance=1";
    if (region.name == "iteration") region.name = "iteration=7";
    if (region.name != "task" && region.name != "THREADS") continue;
    region.role = RegionRole::kArtificial;
    region.paradigm = Paradigm::kMeasurement;
    region.group = "asyncio tasks";
  }
  const CallTree tree = story.fold();
  const CallTree again = through_a_file(tree);
  EXPECT_EQ(describe(again), describe(tree));
  EXPECT_EQ(again.nodes, tree.nodes);
  EXPECT_EQ(again.locations, tree.locations);
  ASSERT_EQ(again.definitions.regions.size(), tree.definitions.regions.size());
  EXPECT_EQ(again.definitions.regions[1].group, "asyncio tasks");
}

TEST(ProfileFile, ReturnsTimesToTheTick) {
  for (const std::uint64_t frequency : {1'000'000'000u, 2'600'475'750u, 3'333'333'333u, 7u}) {
    Story story;
    // Up to ten days.
    story.thread("main", "a +1 b +2600475751 ) +333333333333333 c +864000000000001 ) +3 ) b +1 )")
        .thread("other", "a +1 b +2 ) n=1 +3 c +4 ) )");
    story.definitions().clock = {frequency, 0, 0, {}};
    const CallTree tree = story.fold();
    EXPECT_EQ(through_a_file(tree).locations, tree.locations) << frequency;
  }
}

TEST(ProfileFile, KeepsNamesApartThatDifferInAControlCharacter) {
  Story story;
  story.thread("main", "a who:x\x01y +1 ) a who:x\x1fy +2 ) a who:caf\xe9 +3 )");
  story.definitions().regions[0].name = "esc\x1b[1m";
  const CallTree again = through_a_file(story.fold());
  ASSERT_EQ(again.nodes.size(), 3u);
  std::string names = again.definitions.regions[0].name;
  for (const profile::Node& node : again.nodes) {
    names += " " + text_of(again.parameter_sets[node.parameters.value()]);
  }
  EXPECT_EQ(names, "esc\u241b[1m who=x\u2401y who=x\u241fy who=caf\ufffd");
}

TEST(ProfileFile, NamesTheTraceOfTheRun) {
  const test::TempDirectory directory;
  const auto file = directory.path() / "profile.cubex";
  const CallTree tree = story_of_threads().fold();
  save(tree, file, {.parameters = 0, .trace_id = UINT64_MAX});
  EXPECT_EQ(trace_id_of(Reader(file)), UINT64_MAX);
  save(tree, file);
  EXPECT_EQ(trace_id_of(Reader(file)), 0u);
}

TEST(ProfileFile, HasTheShapeOfScoreP) {
  std::string bytes;
  through_a_file(story_of_threads().fold(), &bytes);
  const Reader reader = read_text(bytes);
  const Cube& cube = reader.cube();
  const auto name = [&](std::uint32_t i) {
    return cube.regions[cube.cnodes[i].region.value()].name;
  };
  EXPECT_EQ(cube.regions[0].name, "MEASUREMENT OFF");
  EXPECT_EQ(cube.regions[1].name, "TRACE BUFFER FLUSH");
  EXPECT_EQ(cube.regions[2].name, "python");
  EXPECT_EQ(cube.regions[2].mangled_name, "python a.py");
  EXPECT_EQ(
      *find_attribute(cube.regions[2].attributes, "Score-P::ProgramArguments::numberOfArguments"),
      "1");
  EXPECT_EQ(*find_attribute(cube.attributes, "Score-P::DefinitionCounters::Parameter"), "3");
  std::string tree;
  for (std::uint32_t i = 0; i < cube.cnodes.size(); ++i) {
    const CnodeId parent = cube.cnodes[i].parent;
    tree += name(i) + "<" + (parent.defined() ? name(parent.value()) : "") + " ";
  }
  EXPECT_EQ(tree, "python< a<python b<a d<b c<a THREADS<python a<THREADS b<THREADS d<b ");
  const Values visits = reader.values(find_metric(cube, "visits"));
  const Values times = reader.values(find_metric(cube, "time"));
  const auto row = [&](const Values& values, std::uint32_t cnode) {
    std::string text;
    for (std::uint32_t i = 0; i < 3; ++i) {
      const double value = to_double(values.type(), values.at(CnodeId{cnode}, CubeLocationId{i}));
      text += std::to_string(std::llround(value * (&values == &times ? 1e9 : 1))) + " ";
    }
    return text;
  };
  EXPECT_EQ(row(visits, 0), "1 0 1 ");
  EXPECT_EQ(row(times, 0), "92 8 41 ");
  EXPECT_EQ(row(visits, 5), "0 0 0 ");
  EXPECT_EQ(row(times, 5), "0 8 0 ");
}

TEST(ProfileFile, KeepsWhatIsBeyondTheLimit) {
  Story story;
  story.thread("main", "a b +1 ) c +2 ) d +3 ) )");
  story.definitions().clock.ticks_per_second = 1'000'000'000;
  const CallTree tree = story.fold({.max_nodes = 0, .own_nodes = 2, .max_functions = 0});
  ASSERT_EQ(tree.nodes.size(), 5u);  // a, b, the limit's node; below it c and d
  ASSERT_FALSE(tree.nodes[2].region.defined());
  EXPECT_EQ(through_a_file(tree).nodes, tree.nodes);
  EXPECT_EQ(through_a_file(tree).locations, tree.locations);
}

TEST(ProfileFile, CompressesATableThatIsMostlyEmpty) {
  Story story;
  for (int i = 0; i < 500; ++i) {
    std::string script = "main";
    for (int j = 0; j < 5; ++j) script += " f" + std::to_string((i * 5 + j) % 900) + " +1 )";
    story.thread("t" + std::to_string(i), script + " )");
  }
  story.definitions().clock.ticks_per_second = 1'000'000'000;
  const CallTree tree = story.fold();
  std::string bytes;
  const CallTree again = through_a_file(tree, &bytes);
  EXPECT_NE(bytes.find("ZCUBEX.DATA"), std::string::npos);
  EXPECT_LT(bytes.size(), 2'000'000u);
  EXPECT_EQ(again.nodes, tree.nodes);
  EXPECT_EQ(again.locations, tree.locations);
}

TEST(ProfileFile, NeedsAThread) {
  const test::TempDirectory directory;
  EXPECT_FALSE(save(CallTree{}, directory.path() / "profile.cubex"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "profile.cubex"));
  Story story;
  story.thread("idle", "");
  EXPECT_TRUE(through_a_file(story.fold()).nodes.empty());
}

TEST(ProfileFile, HasEveryRowOfEveryMetricAndZeroWhereNothingWasVisited) {
  Story story;
  story.thread("main", "a +5 rss#4 b +20 ) )").thread("worker", "c +4 )").thread("idle", "");
  story.definitions().clock.ticks_per_second = 1'000'000'000;
  std::string bytes;
  static_cast<void>(through_a_file(story.fold(), &bytes));
  const Reader reader = read_text(bytes);
  const Cube& cube = reader.cube();
  ASSERT_EQ(cube.metrics.size(), 5u);
  for (std::uint32_t metric = 0; metric < cube.metrics.size(); ++metric) {
    const Values values = reader.values(CubeMetricId{metric});
    for (std::uint32_t cnode = 0; cnode < cube.cnodes.size(); ++cnode) {
      EXPECT_TRUE(values.has_row(CnodeId{cnode})) << metric << " " << cnode;
    }
  }
  const Values visits = reader.values(CubeMetricId{0});
  int unvisited = 0;
  for (const char* name : {"min_time", "max_time"}) {
    const Values times = reader.values(find_metric(cube, name));
    for (std::uint32_t cnode = 0; cnode < cube.cnodes.size(); ++cnode) {
      for (std::uint32_t i = 0; i < cube.locations.size(); ++i) {
        const CubeLocationId location{i};
        const double time = to_double(times.type(), times.at(CnodeId{cnode}, location));
        const bool visited = to_double(visits.type(), visits.at(CnodeId{cnode}, location)) != 0;
        EXPECT_EQ(time != 0, visited) << name << " " << cnode << " " << i;
        unvisited += visited ? 0 : 1;
      }
    }
  }
  EXPECT_GT(unvisited, 0);
}

}  // namespace
}  // namespace timeloom::cube
