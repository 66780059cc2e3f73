// The event path without an interpreter: a clock reading, and an enter and leave recorded into a
// spool in the temporary directory, with the drain at work.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "os/clock.hpp"
#include "record/measurement.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom {
namespace {

namespace fs = std::filesystem;

void clock_read(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(os::now());
}
BENCHMARK(clock_read);

void enter_and_leave(benchmark::State& state) {
  const fs::path directory =
      fs::temp_directory_path() / ("timeloom-bench-" + std::to_string(getpid()));
  record::StartOptions options;
  options.spool_directory = directory.string();
  record::start(options);
  Region region;
  region.name = "empty";
  const EventWord word = record::enter_word(record::define_region(region));
  const record::Token token = record::user_token(word);
  for (auto _ : state) {
    record::t_recorder->enter(token, word);
    benchmark::DoNotOptimize(record::t_recorder->leave_last(token));
  }
  const record::Totals totals = record::stop();
  if (totals.lost_events > 0) state.SkipWithError("events were lost");
  fs::remove_all(directory);
}
BENCHMARK(enter_and_leave);

}  // namespace
}  // namespace timeloom

BENCHMARK_MAIN();
