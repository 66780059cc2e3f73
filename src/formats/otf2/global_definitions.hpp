// Writes the file of global definitions; the events of all locations refer to it.
//
// Used by the thread that finishes the archive, after all events. Throws Error.
#pragma once

#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

struct Epoch {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t realtime = OTF2_UNDEFINED_TIMESTAMP;
};

// The members of a region group that fit into one record of the largest chunk.
inline constexpr std::size_t kGroupMembers = 1u << 20;

// Interns all names. REQUIRES: called before the size of the longest string is read.
void intern_names(Shared& shared);

void write_global_definitions(Shared& shared, const Written& written, const Epoch& epoch);

}  // namespace timeloom::otf2
