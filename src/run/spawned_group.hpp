// The processes that ranks of a run have spawned (MPI_Comm_spawn). Each spawn is a group of ranks
// with a directory of its own, like the one that the job has in RUN/spool (run/job.hpp):
//
//     spool/spawned/K/          made by the process that spawns (src/preload/mpi/spawn.cpp)
//     spool/spawned/K/rank-N/   the spools of rank N of spawn K
//     spool/spawned/K/ended/    made by the first rank that joins; the tree of ended ranks
//     spool/ended/all, spool/spawned/K/ended/all    all ranks of the group have ended
//     spool/ended/last          the process that makes it is the last of the run
//
// A group that spawns has not ended, and spawned processes join before the MPI call that starts
// them returns. So the group that is the last to mark its end sees the marks of all others. Any
// thread.
#pragma once

#include <cstdint>
#include <filesystem>

#include "run/job.hpp"

namespace timeloom::run {

// The directory of the spools of rank N of spawn K.
std::filesystem::path spools_of_spawned(const std::filesystem::path& run, std::uint32_t spawn,
                                        std::uint32_t rank);
// Makes that directory. False: another process is that rank. Throws std::system_error.
bool join_spawn(const KnownDirectory& run, std::uint32_t spawn, std::uint32_t rank);

// Like end_rank(), for a rank of a spawn.
Others end_spawned(const KnownDirectory& run, std::uint32_t spawn, std::uint32_t rank,
                   std::uint32_t size);

// Called once for each group, when all processes of spawn `spawn` have ended (0: all ranks of the
// job). Returns whether all other groups have ended as well, so that this process is the last of
// the run. A group without living processes counts as ended. False also if the end of the group
// cannot be marked: then the next command weaves the run.
bool end_group(const KnownDirectory& run, std::uint32_t spawn);

}  // namespace timeloom::run
