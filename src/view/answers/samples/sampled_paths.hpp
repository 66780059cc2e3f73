// The samples of a part of a run by call path: the calls that were open at a sample, and below them
// the functions that were not recorded, functions of libraries among them.
//
// Plain values and functions, for any thread. Times are ticks since the start of the run. Throws
// Error where the index is damaged.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/definitions.hpp"
#include "exchange/samples/sampled_run.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

struct SampleSum {
  std::uint64_t samples = 0;
  std::uint64_t ns = 0;  // of CPU time
};

struct SampledPaths {
  // Paths beside the ones of the run, whose numbers follow theirs: parent and region. Functions of
  // libraries have the numbers behind the regions of the run.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> added;
  std::map<std::uint32_t, SampleSum> sums;  // by path; samples outside all functions: kNone
};

// The samples in [from, to). `tracks`: in order, each once. REQUIRES: the samples and definitions
// belong to the run.
SampledPaths sampled_paths(const Index& index, const Definitions& definitions,
                           const exchange::RunSamples& samples,
                           const std::vector<std::uint32_t>& tracks, std::uint64_t from,
                           std::uint64_t to);

// In the form of docs/formats/view-http.md.
std::string samples_answer(const SampledPaths& paths, const exchange::RunSamples& samples,
                           const Definitions& definitions);

}  // namespace timeloom::view
