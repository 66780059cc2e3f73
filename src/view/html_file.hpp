// One HTML file: the page of the viewer with a run inside, see docs/formats/view-http.md.
//
// Used by one thread. Throws Error when the place cannot be written, or the run is too large.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "convert/destination.hpp"
#include "view/index.hpp"

namespace timeloom::view {

// Browsers go through the events themselves.
inline constexpr std::uint64_t kMostEventsInside = 5'000'000;

// `description`: the JSON of the run.
void write_html(std::string_view page, const std::string& description, const Index& index,
                convert::Destination& out);

}  // namespace timeloom::view
