// Processes that those of a run have spawned (MPI_Comm_spawn). They are ranks of a group of their
// own, which has in the run what the ranks of the job have in RUN/spool (run/job.hpp):
//
//     spool/spawned/K/          made by who spawns (src/preload/mpi/spawn.cpp)
//     spool/spawned/K/rank-N/   the spools of rank N of spawn K
//     spool/spawned/K/ended/    made by the first of them that joins; the tree of those that end
//     spool/ended/all, spool/spawned/K/ended/all    all of the group have ended
//     spool/ended/last          who makes it is the last of the run
//
// A group that spawns has not ended, and spawned processes join before the call of MPI that starts
// them returns. So of the groups the one that marks its end last sees the marks of all others. Any
// thread.
#pragma once

#include <cstdint>
#include <filesystem>

#include "run/job.hpp"

namespace timeloom::run {

// The directory of the spools of rank N of spawn K.
std::filesystem::path spools_of_spawned(const std::filesystem::path& run, std::uint32_t spawn,
                                        std::uint32_t rank);
// Makes it. False: another process has been that rank. Throws std::system_error.
bool join_spawn(const KnownDirectory& run, std::uint32_t spawn, std::uint32_t rank);

// As end_rank(), of a rank of a spawn.
Others end_spawned(const KnownDirectory& run, std::uint32_t spawn, std::uint32_t rank,
                   std::uint32_t size);

// Called when all processes of a spawn have ended, or with 0 all ranks of the job: whether all
// other groups have ended, too, so that this process is the last of the run. Groups of which no
// process is left have. Asked once of each group. False where it cannot be marked: then the next
// command weaves.
bool end_group(const KnownDirectory& run, std::uint32_t spawn);

}  // namespace timeloom::run
