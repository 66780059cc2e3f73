// The cost of aggregating the events of a run, in addition to reading them: `bench_fold RUN`, a run
// that still has its spool. One thread; the limit is 15 ns per event.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>

#include "profile/call_tree_sink.hpp"
#include "run/open_directory.hpp"
#include "weave/run_contents.hpp"
#include "weave/spool_source.hpp"

namespace timeloom {
namespace {

const char* path = nullptr;

class NothingOfLocation : public LocationSink {
 public:
  void consume(std::span<const Event> events) override { benchmark::DoNotOptimize(events.data()); }
  void finish() override {}
};

class Nothing : public RunSink {
 public:
  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location&) override {
    return std::make_unique<NothingOfLocation>();
  }
  void finish() override {}
};

void replay(benchmark::State& state, RunSink& sink) {
  weave::SpoolSource source(weave::spools_of(run::Directory(path)));
  RunSink* const sinks[] = {&sink};
  source.replay(sinks, 1);
  state.counters["events"] = static_cast<double>(source.events());
}

void read_trace(benchmark::State& state) {
  for (auto _ : state) {
    Nothing sink;
    replay(state, sink);
  }
}

void aggregate_trace(benchmark::State& state) {
  for (auto _ : state) {
    profile::CallTreeSink sink;
    replay(state, sink);
    benchmark::DoNotOptimize(sink.take().nodes.size());
  }
}

// By process time, because replaying starts its own threads.
BENCHMARK(read_trace)->MeasureProcessCPUTime()->Iterations(1)->Repetitions(7);
BENCHMARK(aggregate_trace)->MeasureProcessCPUTime()->Iterations(1)->Repetitions(7);

}  // namespace
}  // namespace timeloom

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_fold [--benchmark_...] RUN\n");
    return 2;
  }
  timeloom::path = argv[1];
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
