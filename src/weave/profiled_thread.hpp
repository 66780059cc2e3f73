// Converts the profile that a thread aggregated while it ran into its part of the run's call tree.
// A pure function, for any thread. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <span>

#include "profile/location_aggregator.hpp"
#include "spool/profile_file.hpp"
#include "weave/thread_replay.hpp"

namespace timeloom::weave {

// Returns times in nanoseconds and regions of the run. Visits that a kill left open end with the
// process; each is counted in `closed`. `metrics`: of the run, with the causes of waiting.
profile::AggregatedLocation folded_of(const spool::ProfileData& data, const WovenProcess& process,
                                      std::span<const Metric> metrics, std::uint64_t& closed);

// Visits of regions whose definition is lost.
std::uint64_t unnamed_visits(const profile::AggregatedLocation& aggregated, const IdMap& regions);

}  // namespace timeloom::weave
