// The spools of a run: one for each process, in RUN/spool, or where ranks of a job share the run in
// RUN/spool/rank-N, with what the processes of that rank have in common; of spawned processes in
// RUN/spool/spawned/K/rank-N. Measurements that are parts of one run, such as those of the
// processes of a pytest session, are runs of their own below RUN/spool/parts. Any thread may call
// these functions; they throw what memory can.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/unmeasured.hpp"
#include "os/directory.hpp"

namespace timeloom::run {

// The directory of the parts in that of the spools; timeloom.pytest_plugin makes it.
inline constexpr char kPartsName[] = "parts";

// Names of directories in `spools`, the open directory RUN/spool, that may be spools: "NAME",
// "rank-N/NAME" or "spawned/K/rank-N/NAME" for those of ranks, and "parts/PART/spool/NAME". An
// errno value where they cannot be listed; 0: success.
std::vector<std::string> spools_in(const os::Directory& spools, int* error);

std::uint64_t count_spools(const std::filesystem::path& run);
// The sum over all ranks and parts.
Unmeasured unmeasured_in(const std::filesystem::path& run);

}  // namespace timeloom::run
