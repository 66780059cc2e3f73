// The ranks of one group, of a job or of a spawn, in the directory that has their spools. Internal
// to src/run; see job.hpp and spawned.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "run/job.hpp"

namespace timeloom::run {

// 0: it is there now, also if it was before; else an errno value.
int make_directory_in_run(const std::filesystem::path& directory);
bool take_rank_in(const std::filesystem::path& spools, std::uint32_t rank);
Others end_rank_in(const std::filesystem::path& spools, std::uint32_t rank, std::uint32_t size,
                   std::chrono::milliseconds patience = {});
// Whether there are processes in it, and none of them is left. Few are looked at.
bool is_group_gone(const std::filesystem::path& spools);

}  // namespace timeloom::run
