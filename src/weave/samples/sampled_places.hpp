// The samples of threads that aggregate their calls while they run: each has its call path in the
// profile of its thread.
//
// A pure function, for any thread. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "profile/call_tree.hpp"
#include "spool/profile_file.hpp"
#include "spool/samples/sample_reader.hpp"

namespace timeloom::weave {

// By location and place: nanoseconds of CPU time, a value for each sample.
using SampledPlaces = std::map<std::pair<std::uint32_t, std::uint32_t>, profile::MetricStatistics>;

// Sets the regions of these samples, unless their stacks have told them. A place that is in no
// profile is not a place.
SampledPlaces take_places(spool::SampleData& data, std::span<const spool::ProfileData> profiles);

}  // namespace timeloom::weave
