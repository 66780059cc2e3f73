// The contents of the directory of a run, for weaving it and for finding it. Internal
// to src/weave. Any thread; throws Error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "run/open_directory.hpp"
#include "spool/spool_directory.hpp"

namespace timeloom::weave {

// The spools of a run, in order. A link in the place of one, or of all, is none.
std::vector<spool::SpoolDirectory> spools_of(const run::Directory& run);
// Removes the spools, of which `woven` have been woven. Where others have joined since, all stay
// for the next weave, and the run is marked as running. Returns how many have.
std::size_t remove_woven_spools(const run::Directory& run, std::size_t woven);
// Throws with the reason when there may be spools that cannot be seen.
void refuse_unreadable(const std::filesystem::path& run);
// Whether a weave of the run was completed.
bool is_woven(const std::filesystem::path& run);

}  // namespace timeloom::weave
