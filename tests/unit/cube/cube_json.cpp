// The writer and the reader of CUBE files for tests in Python.
//
//   cube_json write FILE [compress] < DESCRIPTION   a file with these values
//   cube_json read FILE                             the contents of a file as JSON, with the
//   numbers
//                                                   in the file
//
//   {"metrics": [{"name", "dtype", "kind"}], "regions": [NAME], "cnodes": [{"parent", "region",
//    "parameters": [[numeric, key, value]]}], "locations": [[process, name]],
//    "values": {METRIC: {CNODE: HEX of the row}}}
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <list>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/cube/cube.hpp"

namespace timeloom::cube {
namespace {

using nlohmann::json;

const std::map<std::string, MetricKind> kKinds = {{"EXCLUSIVE", MetricKind::kExclusive},
                                                  {"INCLUSIVE", MetricKind::kInclusive},
                                                  {"SIMPLE", MetricKind::kSimple}};

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(byte));
    text += digits;
  }
  return text;
}

void unhex(const std::string& text, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = std::byte(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
}

void describe_program(const json& from, Cube& cube) {
  for (const json& one : from["metrics"]) {
    Metric metric;
    metric.name = metric.unique_name = one["name"];
    metric.type = value_type_of(one["dtype"].get<std::string>());
    metric.kind = kKinds.at(one["kind"]);
    cube.metrics.push_back(std::move(metric));
  }
  for (const json& one : from["regions"]) {
    Region region;
    region.name = region.mangled_name = one;
    cube.regions.push_back(std::move(region));
  }
  for (const json& one : from["cnodes"]) {
    Cnode cnode;
    if (!one["parent"].is_null()) cnode.parent = CnodeId{one["parent"].get<std::uint32_t>()};
    cnode.region = CubeRegionId{one["region"].get<std::uint32_t>()};
    for (const json& parameter : one["parameters"]) {
      cnode.parameters.push_back({parameter[0], parameter[1], parameter[2]});
    }
    cube.cnodes.push_back(std::move(cnode));
  }
}

void describe_machine(const json& from, Cube& cube) {
  cube.system_nodes.push_back({{}, "machine", "machine", "", {}});
  for (const json& one : from["locations"]) {
    const auto process = one[0].get<std::uint32_t>();
    while (cube.groups.size() <= process) {
      cube.groups.push_back({SystemNodeId{0}, "Process", cube.groups.size(), "process", {}});
    }
    cube.locations.push_back({CubeGroupId{process}, one[1], 0, "thread", {}});
  }
}

void write_description(const json& from, const std::string& file, bool compress) {
  Cube cube;
  describe_program(from, cube);
  describe_machine(from, cube);
  std::vector<MetricRows> all;
  std::list<std::vector<CnodeId>> lists;  // that `all` refers to
  for (const auto& [metric, rows] : from["values"].items()) {
    MetricRows one{CubeMetricId{static_cast<std::uint32_t>(std::stoul(metric))}, {}, {}};
    std::vector<CnodeId>& cnodes = lists.emplace_back();
    for (const auto& [cnode, row] : rows.items()) {
      cnodes.emplace_back(static_cast<std::uint32_t>(std::stoul(cnode)));
    }
    std::ranges::sort(cnodes);
    one.cnodes = cnodes;
    one.fill = row_by_row([&values = rows](CnodeId cnode, std::span<std::byte> row) {
      unhex(values[std::to_string(cnode.value())], row);
    });
    one.compress = compress;
    all.push_back(std::move(one));
  }
  write(cube, all, file);
}

json contents(const Reader& reader) {
  const Cube& cube = reader.cube();
  json all = {{"regions", json::array()},
              {"cnodes", json::array()},
              {"locations", json::array()},
              {"metrics", json::array()},
              {"values", json::object()}};
  for (const Region& region : cube.regions) all["regions"].push_back(region.name);
  for (std::uint32_t i = 0; i < cube.cnodes.size(); ++i) {
    const Cnode& cnode = cube.cnodes[i];
    json parameters = json::array();
    for (const auto& one : cnode.parameters)
      parameters.push_back({one.numeric, one.key, one.value});
    all["cnodes"][reader.number_of(CnodeId{i})] = {
        {"parent", cnode.parent.defined() ? json(reader.number_of(cnode.parent)) : json()},
        {"region", cnode.region.value()},
        {"parameters", parameters}};
  }
  for (const Location& location : cube.locations) {
    all["locations"].push_back({location.group.value(), location.name});
  }
  for (std::uint32_t i = 0; i < cube.metrics.size(); ++i) {
    const Metric& metric = cube.metrics[i];
    const auto kind = std::ranges::find(kKinds, metric.kind, &decltype(kKinds)::value_type::second);
    all["metrics"].push_back({{"name", metric.unique_name},
                              {"dtype", metric.type.name()},
                              {"kind", kind == kKinds.end() ? "" : kind->first}});
    if (!reader.has_values(CubeMetricId{i})) continue;
    const Values values = reader.values(CubeMetricId{i});
    json rows = json::object();
    for (std::uint32_t j = 0; j < cube.cnodes.size(); ++j) {
      if (!values.has_row(CnodeId{j})) continue;
      rows[std::to_string(reader.number_of(CnodeId{j}))] = hex(values.row(CnodeId{j}));
    }
    all["values"][std::to_string(i)] = rows;
  }
  return all;
}

int run(const std::vector<std::string>& words) {
  if (words.size() >= 3 && words[1] == "write") {
    write_description(json::parse(std::cin), words[2], words.size() > 3);
    return 0;
  }
  if (words.size() == 3 && words[1] == "read") {
    std::cout << contents(Reader(words[2])).dump() << "\n";
    return 0;
  }
  std::fprintf(stderr, "usage: cube_json write FILE [compress] | cube_json read FILE\n");
  return 2;
}

}  // namespace
}  // namespace timeloom::cube

int main(int argc, char** argv) {
  try {
    return timeloom::cube::run({argv, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cube_json: %s\n", error.what());
    return 1;
  }
}
