// Writes the files of local definitions: what the references and the times in the events of a
// location mean.
//
// Used by the thread that begins and finishes the archive. Throws Error.
#pragma once

#include "formats/otf2/global_definitions.hpp"
#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

// What the references mean that the events of this archive have.
EventReferences references_of(const Shared& shared);

// Makes strings of what the event files that were taken refer to; before the chunks of definitions
// get their size.
void intern_meanings(Shared& shared);

void write_local_definitions(Shared& shared, const Epoch& epoch);

}  // namespace timeloom::otf2
