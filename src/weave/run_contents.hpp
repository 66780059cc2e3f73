// The contents of the directory of a run, for weaving it and for finding it. Internal
// to src/weave. Any thread; throws Error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace timeloom::weave {

// The spools of a run, in order.
std::vector<std::string> spools_of(const std::filesystem::path& run);
// Throws with the reason when there may be spools that cannot be seen.
void refuse_unreadable(const std::filesystem::path& run);
// Whether a weave of the run was completed.
bool is_woven(const std::filesystem::path& run);

}  // namespace timeloom::weave
