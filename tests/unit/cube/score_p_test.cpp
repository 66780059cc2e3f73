// Profiles that Score-P 8.4 wrote, compared with the output of its own tools.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "formats/cube/cube_profile.hpp"
#include "formats/otf2/otf2.hpp"
#include "profile/call_tree_sink.hpp"
#include "profile/flat_profile.hpp"

namespace timeloom::cube {
namespace {

const std::filesystem::path kScorePData = TIMELOOM_TEST_DATA;

struct Line {
  std::string name;
  std::uint32_t id;
  std::string value;
};

// "name(id=3)   465"
std::vector<Line> dump(const std::filesystem::path& file) {
  static const std::regex kLine(R"(^(.*)\(id=(\d+)\)\s+(\S+)$)");
  std::vector<Line> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, kLine)) continue;
    lines.push_back({match[1], static_cast<std::uint32_t>(std::stoul(match[2])), match[3]});
  }
  return lines;
}

std::string six_digits(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

double value(const Values& values, std::uint32_t cnode) {
  return to_double(values.type(), values.at(CnodeId{cnode}, CubeLocationId{0}));
}

void compare(const std::string& run) {
  const Reader reader(kScorePData / run / "profile.cubex");
  const Cube& cube = reader.cube();
  const Values visits = reader.values(find_metric(cube, "visits"));
  const Values times = reader.values(find_metric(cube, "time"));
  std::vector<double> whole_visits(cube.cnodes.size());
  std::vector<double> own_time(cube.cnodes.size());
  for (auto i = static_cast<std::uint32_t>(cube.cnodes.size()); i-- > 0;) {
    whole_visits[i] += value(visits, i);
    own_time[i] += value(times, i);
    const CnodeId parent = cube.cnodes[i].parent;
    if (!parent.defined()) continue;
    whole_visits[parent.value()] += whole_visits[i];
    own_time[parent.value()] -= value(times, i);
  }
  const std::vector<Line> expected_visits = dump(kScorePData / run / "cube_dump_visits_incl.txt");
  const std::vector<Line> expected_times = dump(kScorePData / run / "cube_dump_time_excl.txt");
  ASSERT_EQ(expected_visits.size(), cube.cnodes.size());
  ASSERT_EQ(expected_times.size(), cube.cnodes.size());
  for (std::uint32_t i = 0; i < cube.cnodes.size(); ++i) {
    EXPECT_EQ(reader.number_of(CnodeId{i}), expected_visits[i].id);
    EXPECT_EQ(cube.regions[cube.cnodes[i].region.value()].name, expected_visits[i].name);
    EXPECT_EQ(six_digits(whole_visits[i]), expected_visits[i].value) << i;
    EXPECT_NEAR(own_time[i], std::stod(expected_times[i].value),
                1e-9 + 1e-5 * std::stod(expected_times[i].value))
        << i;
  }
}

TEST(ScorePProfile, HoldsWhatCubeDumpSays) {
  compare("scorep-fib");
  compare("scorep-user-regions");
}

TEST(ScorePProfile, IsDescribed) {
  const Reader reader(kScorePData / "scorep-fib" / "profile.cubex");
  const Cube& cube = reader.cube();
  EXPECT_EQ(*find_attribute(cube.attributes, "Score-P::DefinitionCounters::Parameter"), "4");
  EXPECT_EQ(cube.metrics.size(), 8u);
  EXPECT_EQ(cube.metrics[2].type.type, DataType::kMinDouble);
  const Definitions all = definitions_of(reader);
  EXPECT_EQ(all.creator, "Score-P 8.4");
  EXPECT_EQ(all.machine_name, "Linux");
  EXPECT_EQ(all.groups[0].executable, "/usr/bin/python3.11");
  EXPECT_EQ(all.groups[0].arguments, (std::vector<std::string>{"-m", "scorep", "a_fib.py"}));
  EXPECT_EQ(all.locations[0].name, "Master thread");
  EXPECT_EQ(all.metrics[0].name, "bytes_put");
}

profile::CallTree fold(const std::filesystem::path& anchor) {
  profile::CallTreeSink sink;
  const std::array<RunSink*, 1> sinks{&sink};
  otf2::open(anchor)->replay(sinks, 1);
  return sink.take();
}

// By the names of the regions from the root on, because the tools number siblings differently.
std::map<std::string, profile::Totals> paths(const profile::CallTree& tree) {
  const auto totals = profile::sum_locations(tree);
  std::vector<std::string> names;
  std::map<std::string, profile::Totals> paths;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const profile::Node& node = tree.nodes[i];
    const timeloom::Region& region = tree.definitions.regions[node.region.value()];
    names.push_back((node.parent.defined() ? names[node.parent.value()] : "") + "/" + region.name +
                    ":" + std::to_string(region.first_line));
    EXPECT_TRUE(paths.emplace(names.back(), totals[i]).second) << names.back();
  }
  return paths;
}

double seconds(std::uint64_t time, const profile::CallTree& tree) {
  return static_cast<double>(time) / static_cast<double>(tree.definitions.clock.ticks_per_second);
}

TEST(ScorePProfile, IsTheTreeOfTheTrace) {
  for (const char* run : {"scorep-fib", "scorep-user-regions"}) {
    const profile::CallTree trace = fold(kScorePData / run / "traces.otf2");
    const profile::CallTree profile = load(kScorePData / run / "profile.cubex");
    const auto in_trace = paths(trace);
    const auto in_profile = paths(profile);
    EXPECT_EQ(in_profile.size(), in_trace.size());
    const double error = 2e-9 + seconds(2, trace);  // rounded once for each call path below
    for (const auto& [path, expected] : in_trace) {
      SCOPED_TRACE(path);
      ASSERT_TRUE(in_profile.contains(path));
      const profile::Totals& found = in_profile.at(path);
      // The program rewinds one execution of this region: it is removed from the trace, but not
      // from the profile.
      if (path.find("main:18/__main__:work") != std::string::npos) {
        EXPECT_EQ(found.visits, 2 * expected.visits);
        continue;
      }
      EXPECT_EQ(found.visits, expected.visits);
      EXPECT_NEAR(seconds(found.inclusive, profile), seconds(expected.inclusive, trace), error);
      EXPECT_NEAR(seconds(found.min, profile), seconds(expected.min, trace), error);
      EXPECT_NEAR(seconds(found.max, profile), seconds(expected.max, trace), error);
    }
  }
}

TEST(ScorePProfile, OfThreadsIsOneTree) {
  const profile::CallTree tree = load(kScorePData / "scorep-threads" / "profile.cubex");
  EXPECT_EQ(tree.locations.size(), 6u);
  std::uint64_t visits = 0;
  for (const auto& row : profile::flat_profile(tree, profile::sum_locations(tree))) {
    EXPECT_NE(tree.definitions.regions[row.region.value()].name, "THREADS");
    visits += row.totals.visits;
  }
  EXPECT_EQ(visits, 5975u);  // scorep-score's USR
}

}  // namespace
}  // namespace timeloom::cube
