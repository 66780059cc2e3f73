// Writes the events of threads, and the communicators in which threads create and await each other.
//
// A run has one communicator for all its threads. A run in the layout of Score-P has one for each
// process, with numbers that count within it. Communicators of MPI follow.
//
// Events: used by one thread for each location. Definitions: by the thread that finishes the
// archive. Definitions throw Error, events return the library's code.
#pragma once

#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

// Refuses kinds that are not thread events. `location`: the location of the event.
OTF2_ErrorCode write_thread_event(OTF2_EvtWriter* writer, const Event& event,
                                  const Location& location, const Shared& shared);

// Decides which communicators exist, and interns their names. REQUIRES: called before the first
// location is opened.
void intern_thread_names(Shared& shared);

// `group`: the first free id. Returns the first free id afterwards. Throws Error.
OTF2_GroupRef write_thread_communicators(Shared& shared, OTF2_GlobalDefWriter* writer,
                                         OTF2_GroupRef group);

}  // namespace timeloom::otf2
