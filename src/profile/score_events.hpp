// The events of one visit of a region in a trace.
//
// Plain functions; any thread may call them. They throw only std::bad_alloc.
#pragma once

#include <cstdint>

#include "profile/event_sizes.hpp"
#include "profile/score.hpp"

namespace timeloom::profile {

// A single execution of a dynamic region, which has no events of its own.
bool is_execution(const ScoreProfile::Region& region);

// The bytes of one visit of the region, time stamps included: by the rules of Score-P, or for a run
// of `ours` by the events that Timeloom records, which are more for MPI.
std::uint64_t bytes_per_visit(const ScoreProfile::Region& region, const EventSizes& sizes,
                              bool sampled, std::uint64_t counters, bool ours);

}  // namespace timeloom::profile
