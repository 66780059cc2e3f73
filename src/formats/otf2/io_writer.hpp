// I/O in an archive that is being written: files, handles, and the events of handles.
//
// Events: used by one thread for each location; they return the library's code. Definitions: by the
// thread that finishes the archive; they throw Error.
#pragma once

#include <optional>

#include "core/event.hpp"
#include "formats/otf2/location_writer.hpp"
#include "formats/otf2/otf2_library.hpp"

namespace timeloom::otf2 {

// Writes an event of a handle that `interface` uses. `offset`: the event kIoOffset before it.
// `attributes`: empty before and after the call. `attribute`: the attribute of the offset.
OTF2_ErrorCode write_io_event(OTF2_EvtWriter* writer, OTF2_AttributeList* attributes,
                              OTF2_AttributeRef attribute, const Event& event,
                              const std::optional<Event>& offset, IoParadigm interface);

// Interns the texts of write_io_definitions(). REQUIRES: called before the strings are written.
void intern_io_names(Shared& shared);
void write_io_definitions(Shared& shared, OTF2_GlobalDefWriter* writer);

}  // namespace timeloom::otf2
