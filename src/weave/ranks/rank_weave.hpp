// Converts the events of one rank, in a process of its own at the end of the rank, so that all
// ranks of a job do this at the same time, each on its host, and what the weave of the run has to
// do grows with definitions and call paths, not with events.
#pragma once

#include <cstdint>

#include "core/known_directory.hpp"

namespace timeloom::weave {

// Leaves a RankResult in `spool`, the directory of the spool of a process that has ended; or
// nothing, where only the weave of the run can do it: for spawned processes and the children of
// ranks, what a process folded while it ran, what is damaged, and less than `least` bytes of
// records. `ranks`: of the job, which share the call paths that a profile may have. Once for each
// spool, by one thread. Throws Error and std::bad_alloc.
void weave_rank(const KnownDirectory& spool, std::uint32_t ranks, std::uint64_t least = 0);

}  // namespace timeloom::weave
