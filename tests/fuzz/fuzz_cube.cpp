// Any bytes as a CUBE file, whole or as members of an archive: read, or refused
// with an Error. What was read can be summed up and scored, and comes back the same
// when it is written.
//
// First byte 0: the rest is the file. Otherwise it is its members, each after two
// bytes with its length: anchor.xml, 0.index, 0.data, 1.index, 1.data.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>
#include <memory>
#include <sstream>
#include <string>

#include "core/error.hpp"
#include "formats/cube/cube_profile.hpp"
#include "formats/cube/score_profile.hpp"
#include "profile/flat_profile.hpp"

namespace timeloom::cube {
namespace {

std::string member(const std::string& name, std::string_view content) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  char size[13];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  header.replace(124, 12, size, 12);
  header[156] = '0';
  header.replace(257, 5, "ustar");
  std::string text = header + std::string(content);
  return text + std::string((512 - content.size() % 512) % 512, '\0');
}

std::string archive_of(std::string_view input) {
  std::string text;
  for (const char* name : {"anchor.xml", "0.index", "0.data", "1.index", "1.data"}) {
    if (input.size() < 2) break;
    const auto low = static_cast<unsigned char>(input[0]);
    const auto high = static_cast<unsigned char>(input[1]);
    const std::string_view content = input.substr(2, std::size_t{low} | std::size_t{high} << 8);
    text += member(name, content);
    input.remove_prefix(2 + content.size());
  }
  return text + std::string(1024, '\0');
}

template <typename Work>
void try_to(Work work) {
  try {
    work();
  } catch (const Error&) {
    // said clearly
  }
}

void check_profile(const Reader& reader) {
  const profile::CallTree tree = load(reader);
  const auto totals = profile::sum_locations(tree);
  if (totals.size() != tree.nodes.size()) std::abort();
  if (profile::flat_profile(tree, totals).size() > tree.definitions.regions.size() + 1)
    std::abort();
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const auto& node = tree.nodes[i];
    if (node.parent.defined() && node.parent.value() >= i) std::abort();
  }
}

const std::filesystem::path& scratch_file() {
  static const std::filesystem::path kFile =
      std::filesystem::temp_directory_path() / ("timeloom-fuzz-cube-" + std::to_string(getpid()));
  return kFile;
}

// Rows of random bytes are as good as any others.
void check_round_trip(const Reader& reader) {
  const Cube& cube = reader.cube();
  std::vector<Values> values;
  std::vector<MetricRows> rows;
  std::list<std::vector<CnodeId>> lists;  // that `rows` refers to
  for (std::uint32_t i = 0; i < cube.metrics.size(); ++i) {
    const ValueType type = cube.metrics[i].type;
    if (type.size() == 0 || !reader.has_values(CubeMetricId{i})) continue;
    values.push_back(reader.values(CubeMetricId{i}));
    MetricRows& one = rows.emplace_back();
    one.metric = CubeMetricId{i};
    std::vector<CnodeId>& cnodes = lists.emplace_back();
    for (std::uint32_t j = 0; j < cube.cnodes.size(); ++j) {
      if (values.back().has_row(CnodeId{j})) cnodes.emplace_back(j);
    }
    one.cnodes = cnodes;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].fill = row_by_row([&of = values[i]](CnodeId cnode, std::span<std::byte> row) {
      if (row.size() != of.row(cnode).size()) std::abort();
      std::memcpy(row.data(), of.row(cnode).data(), row.size());
    });
  }
  write(cube, rows, scratch_file());
  const Reader again(scratch_file());
  if (again.cube().cnodes != cube.cnodes || again.cube().groups.size() != cube.groups.size()) {
    std::abort();
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Values found = again.values(rows[i].metric);
    for (const CnodeId cnode : rows[i].cnodes) {
      const auto expected = values[i].row(cnode);
      if (std::memcmp(found.row(cnode).data(), expected.data(), expected.size()) != 0) std::abort();
    }
  }
}

}  // namespace
}  // namespace timeloom::cube

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom::cube;
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string file = data[0] == 0 ? std::string(input) : archive_of(input);
  try_to([&] {
    const Reader reader(std::make_unique<std::istringstream>(file), "input");
    try_to([&] { check_profile(reader); });
    try_to([&] { static_cast<void>(score_profile(reader)); });
    check_round_trip(reader);
  });
  return 0;
}
