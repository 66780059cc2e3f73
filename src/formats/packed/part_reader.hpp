// The events of a part in the file of a host, for a run that does not take its blocks as they are.
//
// Used by one thread. Throws what the sinks throw, and std::bad_alloc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/event.hpp"
#include "formats/packed/host_file.hpp"
#include "formats/packed/part.hpp"

namespace timeloom::packed {

// Passes the events of a location of the part to the sinks, with ids and times of the run.
// `counts`: of the location. Returns the number of blocks that are damaged or missing. REQUIRES:
// the meaning fits the definitions.
std::uint64_t replay_part(os::File file, const RankPart& part, LocationId there,
                          const RunEnd::OfLocation& counts, const PartMeaning& meaning,
                          const Definitions& definitions,
                          std::span<const std::unique_ptr<LocationSink>> sinks);

}  // namespace timeloom::packed
