// The spools of a run, one for each process. They lie in RUN/spool; if the ranks of a job share the
// run, in RUN/spool/rank-N, with the common files of the rank's processes; for spawned processes,
// in RUN/spool/spawned/K/rank-N. Parts are measurements that belong to one run, such as the
// processes of a pytest session: runs of their own below RUN/spool/parts. Any thread may call these
// functions; they throw nothing but std::bad_alloc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/unmeasured.hpp"
#include "os/directory.hpp"

namespace timeloom::run {

// The directory of the parts, in RUN/spool; timeloom.pytest_plugin makes it.
inline constexpr char kSubRunsName[] = "parts";

// The ways from `spools`, the open directory RUN/spool, to directories that may be spools: "NAME",
// "rank-N/NAME" or "spawned/K/rank-N/NAME" for ranks, and "parts/PART/spool/NAME". `error` gets an
// errno value if they cannot be listed; 0: success.
std::vector<std::string> spools_in(const os::Directory& spools, int* error);

std::uint64_t count_spools(const std::filesystem::path& run);
// The sum over all ranks and parts.
Unmeasured unmeasured_in(const std::filesystem::path& run);

}  // namespace timeloom::run
