// Packs the OTF2 trace of a woven run, in place.
//
// Used by one thread. Throws Error with one line; the run keeps its trace then. If packing is
// interrupted while it removes the OTF2 files, the run has both: readers use the packed trace, and
// the next packing removes the rest.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/definitions.hpp"

namespace timeloom::weave {

struct PackedSizes {
  // The events in the packed trace, in which values of counters are events of their own. 0: only an
  // interrupted packing was finished.
  std::uint64_t events = 0;
  std::uint64_t before = 0;  // bytes of the trace
  std::uint64_t after = 0;
};

// Writes traces.packed, reads it back, compares all its events with the trace, and removes the
// files of the trace. A trace of another tool is also converted back, and compared record by
// record: one with a record that a packed trace cannot have is refused, and so is a damaged one.
PackedSizes pack_trace(const std::filesystem::path& run, unsigned threads);

// Whether another tool than Timeloom made the trace.
bool is_of_another_tool(const Definitions& definitions);
// Whether pack_trace() accepts the trace, as far as its definitions show. Throws nothing.
bool can_be_packed(const std::filesystem::path& run);
// Bytes of the files of the OTF2 trace.
std::uint64_t bytes_of_trace(const std::filesystem::path& run);

}  // namespace timeloom::weave
