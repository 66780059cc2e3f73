// Reads the events of one location and passes them to sinks. Plain functions. They throw Error.
#pragma once

#include <memory>
#include <span>

#include "formats/otf2/read/definition_reader.hpp"
#include "formats/otf2/read/event_balance.hpp"

namespace timeloom::otf2 {

// Data shared by the readers of all locations; constant.
struct Source {
  Anchor anchor;
  Definitions definitions;
  References references;
};

// Applies the mapping tables and clock offsets of the location to the events that `reader` then
// delivers. REQUIRES: called once for each location and handle. Throws Error.
void apply_local_definitions(OTF2_Reader* reader, const Anchor& anchor, const Location& location);

// Replays every event of the location into all sinks, without finishing them. A damaged file is
// read up to its first defect. Several threads may read different locations with the same handle,
// since the library locks its shared data. REQUIRES: all locations have been selected, because
// selecting moves data that readers use without a lock. Throws Error.
Repairs read_location(OTF2_Reader* reader, const Source& source, const Location& location,
                      std::span<const std::unique_ptr<LocationSink>> sinks);

// Adds the properties that only the first event of a process (ProgramBegin) has: executable,
// arguments, process id.
void read_programs(OTF2_Reader* reader, const Anchor& anchor, const References& references,
                   Definitions& definitions);

}  // namespace timeloom::otf2
