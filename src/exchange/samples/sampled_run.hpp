// The samples of CPU time of a run, and the run with them among its events.
//
// Plain values; the functions throw what their source throws, and std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/event.hpp"

namespace timeloom::exchange {

struct RunSample {
  std::uint64_t time_ns = 0;    // since the start of the run
  std::uint64_t weight_ns = 0;  // CPU time of the thread since its sample before
  std::uint32_t line = 0;       // the source line; 0: not known
  std::uint32_t frames = 0;     // in RunSamples::frames
  bool in_function = false;     // a function of the program was open
};

struct RunSamples {
  // The functions of libraries. Their ids follow the regions of the run.
  std::vector<Region> functions;
  // The calls that were open and not recorded, the outermost first.
  std::vector<std::vector<RegionId>> frames;
  std::map<LocationId, std::vector<RunSample>> of_location;  // in order of time
};

// Whether the calls of the region are made of samples in such a run (--sampling).
bool is_sampled_function(const Region& region);

// The run with its samples as events, each followed by its CPU time as a value of the metric
// `sampled time`, and with the functions of libraries as regions. Calls that were made of samples
// are frames of these. `run` outlives the result.
std::unique_ptr<RunSource> with_samples(RunSource& run, RunSamples samples);

// The samples of such a run in place of its calls: each location is in the call path of a sample
// for the CPU time of the sample, one behind the other. `run` outlives the result.
std::unique_ptr<RunSource> only_samples(RunSource& run);

}  // namespace timeloom::exchange
