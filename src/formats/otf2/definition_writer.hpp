// Writes the local and the global definitions, the properties and the markers of an
// archive.
//
// Used by the thread that finishes the archive, after all events. Throws Error.
#pragma once

#include <filesystem>

#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

// The strings of the definitions; before the first location is opened, so that
// events can refer to them without a lock.
void intern_strings(Shared& shared);

// Everything but the markers.
void write_definitions(Shared& shared, const Written& written);

// The library lets only readers of a finished archive write markers.
void write_markers(const std::filesystem::path& anchor, const Shared& shared);

}  // namespace timeloom::otf2
