// Writes the copies of accelerators as operations on remote memory (RMA), and the windows and
// communicators that these refer to, with the names of Score-P.
//
// Each process has a window, whose members are the queues of its accelerators and the threads that
// feed them: a copy of a queue gets data of its thread's memory, or puts data there.
//
// Events: used by one thread for each location. Definitions: by the thread that finishes the
// archive. Definitions throw Error, events return the library's code.
#pragma once

#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

// Whether the archive has the location: a part of a run lacks others.
bool has_location(const Definitions& all, LocationId id);

// Events of a location without a window are left out. REQUIRES: is_rma(event.kind).
OTF2_ErrorCode write_copy(OTF2_EvtWriter* writer, const Event& event, const Location& location,
                          const Shared& shared);

// Numbers the windows, and interns their names. REQUIRES: called after intern_team_names(), before
// the first location is opened.
void intern_windows(Shared& shared);

// `group`: the first free id. Returns the first free id afterwards. Throws Error.
OTF2_GroupRef write_windows(Shared& shared, OTF2_GlobalDefWriter* writer, OTF2_GroupRef group);

}  // namespace timeloom::otf2
