// Reads the events of one location and hands them on.
#pragma once

#include <span>

#include "formats/otf2/read/definition_reader.hpp"
#include "formats/otf2/read/event_balance.hpp"

namespace timeloom::otf2 {

// Shared by the readers of all locations, which only read it.
struct Source {
  Anchor anchor;
  Definitions definitions;
  References references;
};

// Mapping tables and clock offsets of the location, for the events that
// `reader` then gives. Once for each location and handle. Throws Error.
void apply_local_definitions(OTF2_Reader* reader, const Anchor& anchor, const Location& location);

// Feeds every event of the location to all sinks, without finishing them. Of a
// damaged file the sound part. Several threads may read different locations with the same
// handle, since the library locks its shared data. REQUIRES: all locations have been
// selected, because selecting moves data that readers use without a lock. Throws Error.
Repairs read_location(OTF2_Reader* reader, const Source& source, const Location& location,
                      std::span<const std::unique_ptr<LocationSink>> sinks);

// Adds the facts that only the first event of a process (ProgramBegin) holds: executable,
// arguments, id of the process.
void read_programs(OTF2_Reader* reader, const Anchor& anchor, const References& references,
                   Definitions& definitions);

}  // namespace timeloom::otf2
