// Writes one HTML file: the viewer's page with the data of one or two runs, see
// docs/formats/view-http.md. Of large runs the file contains only an outline.
//
// Used by one thread. Throws Error when the file cannot be written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions.hpp"
#include "exchange/destination.hpp"
#include "view/answers/samples/timed_samples.hpp"
#include "view/index/index.hpp"
#include "view/page/outline.hpp"

namespace timeloom::view {

struct LimitsInside {
  std::uint64_t events = 5'000'000;  // over all runs: browsers process them without an index
  std::size_t stretches = 200'000;   // of values, in an outline
  std::size_t samples = 200'000;     // single samples; a file has all of a run or none
  OutlineLimits outline;             // for all runs together
};

struct RunInside {
  std::string description;  // the run, as JSON
  const Definitions* definitions = nullptr;
  std::shared_ptr<const Index> index;
  std::vector<std::string> memory;  // memory_sections(); empty: none
  std::string samples;              // sample_section(); empty: none
  std::string sources;              // a JSON object of answers to `source` by region; empty: none
};

// The amounts of memory that need no births and deaths of blocks, from the file of a run. Throws
// Error if the file is damaged. REQUIRES: the definitions belong to the run.
std::vector<std::string> memory_sections(const std::filesystem::path& file, const Index& index,
                                         const Definitions& definitions);

// All samples of a run at their times; nullopt if they are more than `most`. Throws Error if the
// index is damaged. REQUIRES: the index belongs to the run.
std::optional<std::string> sample_section(const TimedSamples& samples, const Index& index,
                                          std::size_t most);

// Returns true if the file contains all calls, false if it contains outlines. REQUIRES: one run, or
// two for a comparison.
bool write_html(std::string_view page, std::span<const RunInside> runs, exchange::Destination& out,
                const LimitsInside& limits = {});

}  // namespace timeloom::view
