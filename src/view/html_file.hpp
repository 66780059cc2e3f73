// One HTML file: the page of the viewer with one run or two inside, see
// docs/formats/view-http.md.
//
// Used by one thread. Throws Error when the place cannot be written, or the run is too large.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "convert/destination.hpp"
#include "core/definitions.hpp"
#include "view/index.hpp"

namespace timeloom::view {

// Browsers go through the events themselves.
inline constexpr std::uint64_t kMostEventsInside = 5'000'000;

struct RunInside {
  std::string description;  // the JSON of the run
  const Definitions* definitions = nullptr;
  std::shared_ptr<const Index> index;
  std::string sources;  // a JSON object of answers of `source` by region; empty: none are inside
};

// REQUIRES: one run, or two to be compared.
void write_html(std::string_view page, std::span<const RunInside> runs, convert::Destination& out);

}  // namespace timeloom::view
