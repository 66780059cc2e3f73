// What lies in the directory of a run, for weaving it and for finding it. Internal
// to src/weave. Any thread; throws Error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace timeloom::weave {

inline constexpr char kAnchor[] = "traces.otf2";
inline constexpr char kSpool[] = "spool";
// In the spool: some processes had not ended at the last weave.
inline constexpr char kRunning[] = "running";

// The spools of a run, in order.
std::vector<std::string> spools_of(const std::filesystem::path& run);
// Says why when there may be spools that cannot be seen.
void refuse_unreadable(const std::filesystem::path& run);
// Whether a weave of the run was completed.
bool is_woven(const std::filesystem::path& run);

}  // namespace timeloom::weave
