// Writes the events of threads, and the communicators in which threads create and await each other.
//
// A run has one communicator for all its threads; a run in the layout of Score-P has, as there, one
// for each process, with numbers that count in it. Communicators of MPI follow.
//
// Events: used by one thread for each location. Definitions: by the thread that finishes the
// archive.
#pragma once

#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

// Kinds that are none of threads are refused. `location`: that of the event.
OTF2_ErrorCode write_thread_event(OTF2_EvtWriter* writer, const Event& event,
                                  const Location& location, const Shared& shared);

// Decides which communicators there are, and makes strings of their names; before the first
// location is opened.
void intern_thread_names(Shared& shared);

// `group`: the first that is free. Returns the first that is free afterwards. Throws Error.
OTF2_GroupRef write_thread_communicators(Shared& shared, OTF2_GlobalDefWriter* writer,
                                         OTF2_GroupRef group);

}  // namespace timeloom::otf2
