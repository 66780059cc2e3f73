// Writes the events and the communicators of MPI.
//
// Events: used by one thread for each location. Definitions: by the thread that finishes the
// archive. Communicators of MPI have ids after the communicators of threads (thread_writer.hpp).
// Definitions throw Error, events return the library's code.
#pragma once

#include "core/mpi/mpi_event.hpp"
#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

// `operands`: the operands of the event; `first`: the first communicator. Refuses kinds that are
// not MPI events.
OTF2_ErrorCode write_message(OTF2_EvtWriter* writer, const Event& event, const Operands& operands,
                             OTF2_CommRef first);

// REQUIRES: called before the size of the longest string is read.
void intern_communicators(Shared& shared);

// `group`: the first free id. Throws Error.
void write_communicators(Shared& shared, OTF2_GlobalDefWriter* writer, OTF2_GroupRef group);

}  // namespace timeloom::otf2
