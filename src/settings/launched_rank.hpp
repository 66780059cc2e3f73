// The rank of a process in the job of a launcher (mpirun, srun, torchrun, ...), found by the
// variables that the launcher sets for each process. docs/ranks.md lists them.
//
// A process that was started by a rank inherits these variables; `TIMELOOM_RANK` marks it as a
// child (see kRankVariable). Plain functions, for any thread. Variables may hold anything: values
// that are not numbers, and ranks beyond the size of the job, are ignored. Only
// launched_rank_of_this_process() asks the operating system.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace timeloom {

struct LaunchedRank {
  std::string_view launcher;     // its name, for messages
  std::uint32_t rank = 0;        // less than `size`, if that is known
  std::uint32_t size = 0;        // number of ranks in the job; 0: not known
  std::uint32_t local_size = 0;  // number of these on this machine; 0: not known
  // The id of the job: the same for all its ranks and different for other jobs, as far as the
  // launcher tells; empty: it does not.
  std::string job;
  // Added to the name of the run if the launcher starts the ranks again, so that the earlier run
  // stays; empty: this is the first start. ".requeue-1.restart-2": once by Slurm, twice by
  // torchrun.
  std::string restart_suffix;
  // A variable that the launcher sets for its ranks and does not have itself.
  std::string_view variable;
  std::string value;
  bool on_one_host() const noexcept { return size != 0 && local_size == size; }
  // Whether the launcher starts MPI programs; torchrun does not.
  bool of_mpi() const noexcept { return launcher.find("torch") == std::string_view::npos; }
};

// In the environment of a measured rank and of all processes that it starts: job and rank, so that
// a process that inherits the launcher's variables is not taken for the rank.
inline constexpr char kRankVariable[] = "TIMELOOM_RANK";
// The user's name for the job, if the launcher gives none, or the same one to several jobs.
inline constexpr char kJobVariable[] = "TIMELOOM_JOB";

// The value of a variable of the environment; empty: it is not set.
using Variables = std::function<std::string(std::string_view name)>;

// Variables of an environment like environ(7), which has to outlive the result.
Variables variables_of(const char* const* environment);

// None: the process was not started by a launcher.
std::optional<LaunchedRank> launched_rank(const Variables& variables);

// The same, without children of a rank; the id of the job is made unique by facts about the
// launcher's process. An empty job: there are no such facts.
std::optional<LaunchedRank> launched_rank_of_this_process(const char* const* environment);

// The value of kRankVariable.
std::string rank_mark(const LaunchedRank& rank);

}  // namespace timeloom
