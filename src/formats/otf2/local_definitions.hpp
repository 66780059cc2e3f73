// Writes the files of local definitions, which give the meaning of references and times in the
// events of a location.
//
// Used by the thread that begins and finishes the archive. Throws Error.
#pragma once

#include "formats/otf2/global_definitions.hpp"
#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

// The meaning of the references in the events of this archive.
EventReferences references_of(const Shared& shared);

// Interns the texts that adopted event files refer to. REQUIRES: called before the chunks of
// definitions get their size.
void intern_meanings(Shared& shared);

void write_local_definitions(Shared& shared, const Epoch& epoch);

}  // namespace timeloom::otf2
