// Writes one HTML file: the viewer's page with the data of one or two runs, see
// docs/formats/view-http.md. Of large runs the file contains only an outline.
//
// Used by one thread. Throws Error when the file cannot be written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/definitions.hpp"
#include "exchange/destination.hpp"
#include "view/index/index.hpp"
#include "view/page/outline.hpp"

namespace timeloom::view {

struct LimitsInside {
  std::uint64_t events = 5'000'000;  // over all runs: browsers process them without an index
  std::size_t stretches = 200'000;   // of values, in an outline
  OutlineLimits outline;             // for all runs together
};

struct RunInside {
  std::string description;  // the run, as JSON
  const Definitions* definitions = nullptr;
  std::shared_ptr<const Index> index;
  std::filesystem::path memory;  // the file of the memory by call path; empty: none
  std::string sources;           // a JSON object of answers to `source` by region; empty: none
};

// Returns true if the file contains all calls, false if it contains outlines. REQUIRES: one run, or
// two for a comparison.
bool write_html(std::string_view page, std::span<const RunInside> runs, exchange::Destination& out,
                const LimitsInside& limits = {});

}  // namespace timeloom::view
