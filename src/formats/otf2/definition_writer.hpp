// Writes the local and the global definitions, the properties and the markers of an
// archive.
//
// Used by the thread that finishes the archive, after all events. Throws Error.
#pragma once

#include <filesystem>

#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

// Interns the strings of the definitions. REQUIRES: called before the first location is opened, so
// that events can refer to them without a lock.
void intern_strings(Shared& shared);

class OriginalArchive;

// Writes all definitions; the markers follow separately. `original`: its definitions are written in
// place of the run's; may be null.
void write_definitions(Shared& shared, const Written& written, const OriginalArchive* original);

// Separate, because the library writes markers only for readers of a finished archive.
void write_markers(const std::filesystem::path& anchor, const Shared& shared);

}  // namespace timeloom::otf2
