// One HTML file: the page of the viewer with one run or two inside, see
// docs/formats/view-http.md. Of large runs only an outline is inside.
//
// Used by one thread. Throws Error when the place cannot be written.
#pragma once

#include <cstdint>
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
  std::uint64_t events = 5'000'000;  // of all runs: browsers go through them themselves
  std::size_t stretches = 200'000;   // of values, in an outline
  OutlineLimits outline;             // of all runs together
};

struct RunInside {
  std::string description;  // the JSON of the run
  const Definitions* definitions = nullptr;
  std::shared_ptr<const Index> index;
  std::string sources;  // a JSON object of answers of `source` by region; empty: none are inside
};

// Returns whether all calls are inside; if not, the file has outlines. REQUIRES: one run, or two to
// be compared.
bool write_html(std::string_view page, std::span<const RunInside> runs, exchange::Destination& out,
                const LimitsInside& limits = {});

}  // namespace timeloom::view
