// The tables of samples by function and by source line.
#include "weave/samples/sample_table.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace timeloom::weave {
namespace {

using Row = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;

// Regions 0 and 1 of the run are one function, which has two roles; 2 is another one.
struct Sampled {
  Sampled() {
    for (std::uint32_t i = 0; i < 3; ++i) {
      Region region;
      region.name = i == 2 ? "app.g" : "app.f";
      region.file = "/app.py";
      region.first_line = i == 2 ? 20 : 10;
      region.role = i == 1 ? RegionRole::kTask : RegionRole::kFunction;
      definitions.regions.push_back(region);
      process.regions[i + 5] = region;
      ids.regions.set(i + 5, i);
    }
  }
  void add(std::uint32_t region, std::uint32_t line, std::uint64_t ns) {
    spool::ThreadSample sample;
    sample.ticks = data.samples.size() + 1;
    sample.weight_ns = ns;
    sample.region = region;
    sample.line = line;
    data.samples.push_back(sample);
  }
  std::vector<Row> lines() {
    data.period_ns = 1;
    symbols::CodeNames names;
    SampleTable table;
    table.add(data, process, ids, names,
              {[](std::uint32_t index) { return LocationId{index}; },
               [](std::uint64_t ticks) { return ticks * 10; }});
    std::vector<Row> rows;
    for (const run::LineRow& row : table.lines(definitions)) {
      rows.emplace_back(row.function, row.first_line, row.source_line, row.samples, row.ns);
    }
    return rows;
  }

  Definitions definitions;
  spool::ProcessDefinitions process;
  ProcessIds ids;
  spool::SampleData data;
};

TEST(SampleTable, HasARowForEachLineOfAFunction) {
  Sampled sampled;
  sampled.add(5, 11, 100);
  sampled.add(6, 12, 40);
  sampled.add(6, 11, 20);
  sampled.add(5, 11, 3);
  sampled.add(7, 11, 1);
  sampled.add(9, 11, 7);  // in no region
  EXPECT_EQ(sampled.lines(),
            (std::vector<Row>{
                {"app.f", 10, 11, 3, 123}, {"app.f", 10, 12, 1, 40}, {"app.g", 20, 11, 1, 1}}));
}

TEST(SampleTable, LeavesOutFunctionsOfWhichNoLineIsKnown) {
  Sampled sampled;
  sampled.add(5, 0, 100);
  sampled.add(6, 11, 40);
  sampled.add(6, 0, 20);
  sampled.add(7, 0, 1);
  EXPECT_EQ(sampled.lines(),
            (std::vector<Row>{{"app.f", 10, 0, 2, 120}, {"app.f", 10, 11, 1, 40}}));
}

}  // namespace
}  // namespace timeloom::weave
