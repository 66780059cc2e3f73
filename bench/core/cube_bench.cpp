// The cost of writing and reading a CUBE profile of 100,000 call paths on 64 processes. The limit
// for each is one second and 500 MB; `peak_MB` is the peak memory of the program. The file is
// written to the path in the argument.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "formats/cube/cube_profile.hpp"
#include "formats/cube/score_profile.hpp"

namespace timeloom {
namespace {

constexpr std::uint32_t kCallPaths = 100'000;
constexpr std::uint32_t kThreads = 64;
constexpr std::uint32_t kRegions = 20'011;  // no two siblings have the same region

// Every process has visited every call path: no row can be left out.
profile::CallTree make_tree() {
  profile::CallTree tree;
  Definitions& all = tree.definitions;
  for (std::uint32_t i = 0; i < kRegions; ++i) {
    Region region;
    region.name = region.canonical_name = "package.module.Class.method_" + std::to_string(i);
    region.file = "/home/user/project/package/module.py";
    all.regions.push_back(region);
  }
  for (std::uint32_t i = 0; i < kCallPaths; ++i) {
    // Chains of 50 below one root.
    const bool root = i == 0;
    const profile::NodeId parent = i % 50 == 1 ? profile::NodeId{0} : profile::NodeId{i - 1};
    const std::uint32_t depth = root ? 0 : tree.nodes[parent.value()].depth + 1;
    tree.nodes.push_back({root ? profile::NodeId{} : parent, RegionId{i % kRegions}, depth});
  }
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    Location location;
    location.id = LocationId{std::uint64_t{thread} << 32};
    location.name = "thread " + std::to_string(thread);
    location.group = LocationGroupId{thread};
    all.groups.push_back({"Process", "node", 1, "/usr/bin/python3", {"app.py"}, {}, {}});
    all.locations.push_back(location);
    auto& cells = tree.locations.emplace_back().cells;
    cells.reserve(kCallPaths);
    for (std::uint32_t i = 0; i < kCallPaths; ++i) {
      const std::uint64_t depth = tree.nodes[i].depth;
      const std::uint64_t time = i == 0 ? 1'000'000'000'000 : 1'000'000 * (100 - depth) + thread;
      cells.push_back({profile::NodeId{i}, {i % 97 + 1, time, time / 200, time / 50}});
    }
  }
  return tree;
}

std::filesystem::path& file() {
  static std::filesystem::path the_file =
      std::filesystem::temp_directory_path() /
      ("timeloom-cube-bench-" + std::to_string(getpid()) + ".cubex");
  return the_file;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Runs first, so that the peak does not include the tree's.
void read_values(benchmark::State& state) {
  for (auto _ : state) {
    const cube::Reader reader(file());
    for (const char* name : {"visits", "time", "min_time", "max_time"}) {
      const cube::Values values = reader.values(find_metric(reader.cube(), name));
      benchmark::DoNotOptimize(values.row(cube::CnodeId{kCallPaths / 2}).data());
    }
  }
  state.counters["peak_MB"] = peak_megabytes();
}

void load_call_tree(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(cube::load(file()).nodes.size());
  state.counters["peak_MB"] = peak_megabytes();
}

void estimate_trace(benchmark::State& state) {
  for (auto _ : state) {
    const auto profile = cube::score_profile(cube::Reader(file()));
    benchmark::DoNotOptimize(score(profile, 0, nullptr).types[0].visits);
  }
}

void write_profile(benchmark::State& state) {
  const profile::CallTree tree = make_tree();
  for (auto _ : state) cube::save(tree, file());
  state.counters["peak_MB"] = peak_megabytes();
  state.counters["file_MB"] = static_cast<double>(std::filesystem::file_size(file())) / 1e6;
}

// In a separate process, so that the memory for building the tree does not count.
void write_once() {
  if (fork() == 0) {
    cube::save(make_tree(), file());
    _exit(0);
  }
  wait(nullptr);
}

BENCHMARK(read_values)->Unit(benchmark::kMillisecond)->Iterations(5);
BENCHMARK(load_call_tree)->Unit(benchmark::kMillisecond)->Iterations(5);
BENCHMARK(estimate_trace)->Unit(benchmark::kMillisecond)->Iterations(5);
BENCHMARK(write_profile)->Unit(benchmark::kMillisecond)->Iterations(5);

}  // namespace
}  // namespace timeloom

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const bool keep = argc > 1;
  if (keep) timeloom::file() = argv[1];
  timeloom::write_once();
  benchmark::RunSpecifiedBenchmarks();
  if (!keep) std::filesystem::remove(timeloom::file());
  return 0;
}
