// The contents of a run directory, for weaving and finding runs. Internal to src/weave. Any thread;
// throws Error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "run/open_directory.hpp"
#include "spool/spool_directory.hpp"
#include "weave/ranks/packed_ranks.hpp"

namespace timeloom::weave {

// The spools of a run, in order. Symbolic links do not count: neither a link to one spool nor to
// all.
std::vector<spool::SpoolDirectory> spools_of(const run::Directory& run);
// The events that ranks have packed, as far as they are there now.
std::shared_ptr<const PackedRanks> packed_ranks_of(const run::Directory& run);
// Removes the spools, of which `woven` have been woven. Where other processes have joined since,
// all spools stay for the next weave, and the run is marked as running. Returns the number of these
// processes.
std::size_t remove_woven_spools(const run::Directory& run, std::size_t woven);
// Throws Error with the reason when there may be spools that cannot be read.
void refuse_unreadable(const std::filesystem::path& run);
// Whether a weave of the run was completed.
bool is_woven(const std::filesystem::path& run);

}  // namespace timeloom::weave
