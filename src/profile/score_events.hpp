// The events that a visit of a region makes in a trace.
//
// Plain functions; any thread may call them. Nothing throws.
#pragma once

#include <cstdint>

#include "profile/event_sizes.hpp"
#include "profile/score.hpp"

namespace timeloom::profile {

// A single execution of a dynamic region, which has no events of its own.
bool is_execution(const ScoreProfile::Region& region);

// The bytes that one visit of the region takes, time stamps included. By the rules of Score-P, or
// of a run that is `ours` by what we record, which is more of MPI.
std::uint64_t bytes_per_visit(const ScoreProfile::Region& region, const EventSizes& sizes,
                              bool sampled, std::uint64_t counters, bool ours);

}  // namespace timeloom::profile
