// The samples of a process in which functions were open that it had throttled, by their stacks.
//
// A pure function, for any thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "profile/samples/throttled_times.hpp"
#include "spool/samples/sample_reader.hpp"
#include "weave/unify.hpp"

namespace timeloom::weave {

// `data`: of a process whose calls were recorded, with these ids in the run. `location_of`:
// the location of a thread in the run; undefined: there is none.
std::vector<profile::EstimatedPath> estimated_paths(
    const spool::SampleData& data, const ProcessIds& ids,
    const std::function<LocationId(std::uint32_t)>& location_of);

}  // namespace timeloom::weave
