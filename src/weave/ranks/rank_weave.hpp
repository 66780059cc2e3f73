// Converts the events of one rank, in a separate process at the end of the rank. All ranks of a job
// do so at the same time, each on its host. So the work left to the weave of the run grows with
// definitions and call paths, not with events.
#pragma once

#include <cstdint>

#include "core/known_directory.hpp"

namespace timeloom::weave {

// Where the events of a rank of a packed run go.
struct RankPacking {
  KnownDirectory run{};   // without a path: they stay in the log, for the weave of the run
  bool keep_log = false;  // the log stays as well
};

// Writes a RankResult into `spool`, the spool directory of a process that has ended. Writes nothing
// where only the weave of the run can convert: for spawned processes and children of ranks, for
// profiles that a process aggregated while it ran, for damaged spools, and for less than `least`
// bytes of records. In a packed run, appends the events to the file of the host and removes the log
// (packed_ranks.hpp). `ranks`: number of ranks of the job, which share the limit on call paths of a
// profile. REQUIRES: called once for each spool, by one thread. Throws Error and std::bad_alloc.
void weave_rank(const KnownDirectory& spool, std::uint32_t ranks, std::uint64_t least = 0,
                const RankPacking& packing = {});

}  // namespace timeloom::weave
