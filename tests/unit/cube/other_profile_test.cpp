// Profiles written by other tools, and Timeloom's profiles as modified by CUBE's tools.
#include <gtest/gtest.h>

#include <cstring>

#include "cube_text.hpp"
#include "formats/cube/cube_profile.hpp"
#include "support/temp_directory.hpp"

namespace timeloom::cube {
namespace {

using profile::CallTree;

// A profile of another tool, with one location and whole numbers of seconds.
CallTree of_other_tool(const std::string& regions, const std::string& cnodes,
                       const std::vector<std::uint64_t>& visits, const std::vector<double>& times,
                       const char* kind = "INCLUSIVE") {
  AnchorParts anchor;
  anchor.regions = regions;
  anchor.cnodes = cnodes;
  anchor.metrics.replace(anchor.metrics.find("INCLUSIVE"), 9, kind);
  const std::size_t second = anchor.system.find("<location Id=\"1\"");
  anchor.system.erase(second, anchor.system.find("</locationgroup>") - second);
  return load(read_text(Tar()
                            .add("0.data", plain_data(visits))
                            .add("0.index", dense_index())
                            .add("1.data", plain_data(times))
                            .add("1.index", dense_index())
                            .add("anchor.xml", anchor.text())
                            .end()));
}

std::string region_xml(int id, const std::string& name, const std::string& role = "function") {
  return "<region id=\"" + std::to_string(id) + "\" mod=\"\" begin=\"-1\" end=\"-1\"><name>" +
         name + "</name><mangled_name>" + name + "</mangled_name><paradigm>user</paradigm><role>" +
         role + "</role></region>";
}

std::string text_of(const CallTree& tree) {
  std::string text;
  const auto totals = profile::sum_locations(tree);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    text += std::string(tree.nodes[i].depth, '>') +
            tree.definitions.regions[tree.nodes[i].region.value()].name + " " +
            std::to_string(profile::signed_value(totals[i].visits)) + " " +
            std::to_string(profile::signed_value(totals[i].inclusive) / 1'000'000'000) + " " +
            std::to_string(profile::signed_value(totals[i].exclusive) / 1'000'000'000) + "; ";
  }
  return text;
}

// Its end is in a later piece of the document than its start.
TEST(OtherProfile, MayHaveLongAttributes) {
  std::string file;
  for (std::size_t i = 0; file.size() < 6'000'000; ++i)
    file += "k\u00e4se" + std::to_string(i) + "/";
  std::string region = region_xml(7, "f");
  region.replace(region.find("mod=\"\""), 6, "mod=\"" + file + "\"");
  const CallTree tree = of_other_tool(region, R"(<cnode id="0" calleeId="7"></cnode>)", {1}, {1});
  ASSERT_EQ(tree.definitions.regions.size(), 1u);
  EXPECT_EQ(tree.definitions.regions[0].file, file);
}

TEST(OtherProfile, WithExclusiveTimesIsSummedUp) {
  const std::string regions = region_xml(0, "main") + region_xml(1, "f") + region_xml(2, "g");
  const std::string cnodes =
      "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" calleeId=\"1\"><cnode id=\"2\" "
      "calleeId=\"2\"/></cnode></cnode>";
  EXPECT_EQ(text_of(of_other_tool(regions, cnodes, {1, 2, 3}, {10, 20, 30}, "EXCLUSIVE")),
            "main 1 60 10; >f 2 50 20; >>g 3 30 30; ");
}

// Three call paths, each below the one before, on as many locations as are asked for.
Cube nested_cube(std::uint32_t locations) {
  Cube cube;
  cube.metrics.resize(2);
  cube.metrics[0].unique_name = "visits";
  cube.metrics[1].unique_name = "time";
  cube.metrics[1].type = {DataType::kDouble, 1};
  for (std::uint32_t i = 0; i < 3; ++i) {
    Region region;
    region.name = "f" + std::to_string(i);
    region.paradigm = "user";
    region.role = "function";
    cube.regions.push_back(std::move(region));
    cube.cnodes.push_back({i == 0 ? CnodeId{} : CnodeId{i - 1}, CubeRegionId{i}, {}});
  }
  cube.system_nodes.push_back({{}, "machine", "machine", "", {}});
  cube.groups.push_back({SystemNodeId{0}, "p", 0, "process", {}});
  for (std::uint32_t i = 0; i < locations; ++i) {
    cube.locations.push_back({CubeGroupId{0}, "t", i, "thread", {}});
  }
  return cube;
}

TEST(OtherProfile, OfManyThreadsIsSummedUpForEach) {
  constexpr std::uint32_t kLocations = 21;
  const std::vector<CnodeId> cnodes = {CnodeId{0}, CnodeId{1}, CnodeId{2}};
  const auto rows_of = [](auto number_of) {
    return row_by_row([number_of](CnodeId cnode, std::span<std::byte> row) {
      for (std::uint32_t i = 0; i < kLocations; ++i) {
        const auto number = number_of(cnode.value(), i);
        std::memcpy(row.data() + i * sizeof number, &number, sizeof number);
      }
    });
  };
  const std::vector<MetricRows> rows = {
      {CubeMetricId{0}, cnodes, rows_of([](std::uint32_t cnode, std::uint32_t i) {
         return std::uint64_t{cnode * 100 + i};
       })},
      {CubeMetricId{1}, cnodes,
       rows_of([](std::uint32_t cnode, std::uint32_t i) { return cnode * 100.0 + i + 1; })}};
  const test::TempDirectory directory;
  write(nested_cube(kLocations), rows, directory.path() / "a.cubex");
  const CallTree tree = load(directory.path() / "a.cubex");
  ASSERT_EQ(tree.locations.size(), kLocations);
  for (std::uint32_t i = 0; i < kLocations; ++i) {
    std::uint64_t seconds = 0;
    ASSERT_EQ(tree.locations[i].cells.size(), 3u);
    for (std::uint32_t node = 3; node-- > 0;) {
      seconds += node * 100 + i + 1;
      const profile::Cell& cell = tree.locations[i].cells[node];
      EXPECT_EQ(cell.node, profile::NodeId{node});
      EXPECT_EQ(cell.statistics.visits, node * 100 + i) << node << " " << i;
      EXPECT_EQ(cell.statistics.inclusive, seconds * 1'000'000'000) << node << " " << i;
    }
  }
}

TEST(OtherProfile, KeepsCallPathsApartThatDifferInParameters) {
  const std::string regions = region_xml(0, "main") + region_xml(1, "f") + region_xml(2, "g");
  const std::string cnodes =
      "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" calleeId=\"1\"><parameter "
      "partype=\"numeric\" parkey=\"n\" parvalue=\"1\"/></cnode><cnode id=\"2\" "
      "calleeId=\"2\"/><cnode id=\"3\" calleeId=\"1\"><parameter partype=\"numeric\" "
      "parkey=\"n\" parvalue=\"2\"/><cnode id=\"4\" calleeId=\"2\"/></cnode></cnode>";
  EXPECT_EQ(text_of(of_other_tool(regions, cnodes, {1, 2, 3, 4, 5}, {100, 10, 20, 30, 15})),
            "main 1 100 40; >f 2 10 10; >g 3 20 20; >f 4 30 15; >>g 5 15 15; ");
}

TEST(OtherProfile, CountsExecutionsOfADynamicRegionAsItsVisits) {
  const std::string regions = region_xml(0, "main") + region_xml(1, "loop", "dynamic") +
                              region_xml(2, "instance=1", "unknown") +
                              region_xml(3, "instance=2", "unknown") + region_xml(4, "f");
  const std::string cnodes =
      "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" calleeId=\"1\"><cnode id=\"2\" "
      "calleeId=\"2\"><cnode id=\"3\" calleeId=\"4\"/></cnode><cnode id=\"4\" "
      "calleeId=\"3\"/></cnode></cnode>";
  // Inclusive values are in wide order: 0 1 2 4 3.
  EXPECT_EQ(text_of(of_other_tool(regions, cnodes, {1, 0, 1, 4, 1}, {100, 50, 20, 30, 5})),
            "main 1 100 50; >loop 2 50 45; >>f 4 5 5; ");
}

TEST(OtherProfile, LiftsWhatGivesTheTreeItsShape) {
  const std::string regions = region_xml(0, "prog", "artificial") + region_xml(1, "f") +
                              region_xml(2, "MEASUREMENT OFF", "artificial");
  std::string program = regions;
  program.replace(program.find("<paradigm>user"), 14, "<paradigm>measurement");
  const std::string cnodes =
      "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" calleeId=\"1\"><cnode id=\"2\" "
      "calleeId=\"2\"/></cnode></cnode>";
  const CallTree tree = of_other_tool(program, cnodes, {1, 2, 3}, {100, 50, 20});
  EXPECT_EQ(text_of(tree), "f 2 50 50; ");
  EXPECT_EQ(tree.definitions.clock.length, 100'000'000'000u);
  EXPECT_EQ(tree.definitions.regions.size(), 1u);
}

TEST(OtherProfile, NeverHasLessThanNoExclusiveTime) {
  const std::string regions = region_xml(0, "main") + region_xml(1, "f");
  const std::string cnodes =
      "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" calleeId=\"1\"/></cnode>";
  EXPECT_EQ(text_of(of_other_tool(regions, cnodes, {1, 1}, {5, 6})), "main 1 6 0; >f 1 6 6; ");
  EXPECT_EQ(text_of(of_other_tool(regions, cnodes, {0, 1}, {0, 6})), "main 0 6 0; >f 1 6 6; ");
}

TEST(OtherProfile, MayBeADifferenceWithNegativeValues) {
  const std::string regions = region_xml(0, "main") + region_xml(1, "f") + region_xml(2, "g");
  const std::string cnodes =
      "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" calleeId=\"1\"/><cnode id=\"2\" "
      "calleeId=\"2\"/></cnode>";
  const std::uint64_t fewer = static_cast<std::uint64_t>(-2);
  const CallTree tree = of_other_tool(regions, cnodes, {0, fewer, 3}, {-10, -20, 4});
  EXPECT_EQ(text_of(tree), "main 0 -10 6; >f -2 -20 -20; >g 3 4 4; ");
  EXPECT_EQ(tree.definitions.clock.length, 0u);
}

TEST(OtherProfile, MayHoldControlCharactersAndOtherEncodings) {
  const std::string name =
      "a\x01"
      "b\x1f \xC3\xA9 \xE9 \xE2\x82";
  const std::string cnodes = "<cnode id=\"0\" calleeId=\"0\"/>";
  const CallTree tree = of_other_tool(region_xml(0, name), cnodes, {1}, {1});
  EXPECT_EQ(tree.definitions.regions.front().name,
            "a\xE2\x90\x81"
            "b\xE2\x90\x9F \xC3\xA9 \xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(OtherProfile, KeepsTasksWhereTheirMarkWasDropped) {
  std::string regions = region_xml(0, "task", "artificial") + region_xml(1, "TASKS", "artificial");
  const std::string paradigm = "<paradigm>user";
  regions.replace(regions.find(paradigm), paradigm.size(), "<paradigm>measurement:asyncio tasks");
  regions.replace(regions.find(paradigm), paradigm.size(), "<paradigm>openmp");
  const std::string cnodes =
      "<cnode id=\"0\" calleeId=\"1\"><cnode id=\"1\" calleeId=\"0\"/></cnode>";
  EXPECT_EQ(text_of(of_other_tool(regions, cnodes, {0, 2}, {5, 5})), "task 2 5 5; ");
}

}  // namespace
}  // namespace timeloom::cube
