// The spools of a run: one for each process, in RUN/spool, or where ranks of a job share the run in
// RUN/spool/rank-N, with what the processes of that rank have in common. Any thread may call these
// functions; they throw what memory can.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "os/directory.hpp"

namespace timeloom::run {

// Names of directories in `spools`, the open directory RUN/spool, that may be spools: "NAME", and
// "rank-N/NAME" for those of ranks; in order. An errno value where they cannot be listed; 0:
// success.
std::vector<std::string> spools_in(const os::Directory& spools, int* error);

std::uint64_t count_spools(const std::filesystem::path& run);
// Python processes that were started by measured ones and not measured themselves.
std::uint64_t count_unmeasured(const std::filesystem::path& run);

}  // namespace timeloom::run
