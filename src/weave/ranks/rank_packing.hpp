// Packs the events of a rank of a packed run; the part of weave_rank() for such runs.
#pragma once

#include <cstdint>

#include "os/directory.hpp"
#include "weave/ranks/rank_weave.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {

// `source`: made of `spool` alone, whose open directory is `own`. Leaves the events to the weave of
// the run where they cannot be packed alone, or the file of the host cannot be locked. Throws
// Error, std::system_error and std::bad_alloc.
void pack_rank(const SpoolSource& source, const spool::SpoolDirectory& spool,
               const os::Directory& own, std::uint32_t ranks, const RankPacking& packing);

}  // namespace timeloom::weave
