// The trace of a run on disk, as an OTF2 archive or packed: its file tells which one it is.
//
// Plain functions, for any thread. They throw Error with one line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "core/event.hpp"
#include "run/contents.hpp"

namespace timeloom::weave {

// The files and directories of an OTF2 trace; it may lack the markers.
inline constexpr std::array kTraceItems = {run::Item::kAnchor, run::Item::kTraceDefinitions,
                                           run::Item::kTraceMarkers, run::Item::kTraceEvents};

// Whether this is the file of a packed trace, by its name.
bool is_packed(const std::filesystem::path& trace);

// Opens the trace and reads its definitions.
std::unique_ptr<RunSource> open_trace(const std::filesystem::path& trace);

// The random number that the trace was given when it was created; 0: it has none.
std::uint64_t trace_id(const std::filesystem::path& trace);

// The number of files of the trace that are now missing, cut off or damaged, as far as that is
// known without reading the events.
std::size_t unsound_parts(const std::filesystem::path& trace, std::span<const Location> locations);

}  // namespace timeloom::weave
