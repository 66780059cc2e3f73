// The rank of a process in the job of a launcher (mpirun, srun, torchrun, ...), by the variables
// that the launcher gives to each process that it starts. docs/ranks.md lists them.
//
// Variables are inherited, so a process that a rank has started has them, too: `TIMELOOM_RANK`
// tells such a child (see kRankVariable). Plain functions, for any thread; what variables hold is
// anybody's, and a value that is no number makes no rank. Only launched_rank_of_this_process()
// looks at the system.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace timeloom {

struct LaunchedRank {
  std::string_view launcher;     // its name, for messages
  std::uint32_t rank = 0;        // below `size`, where that is known
  std::uint32_t size = 0;        // ranks of the job; 0: not known
  std::uint32_t local_size = 0;  // of these on this machine; 0: not known
  // The same for all ranks of a job and for those of no other, as far as the launcher says so;
  // empty: it does not.
  std::string job;
  // The end of the name of the run, where the name alone is that of the run before; empty: the
  // ranks were not started anew. ".requeue-1.restart-2": by Slurm and by torchrun, each time as
  // another job.
  std::string restart_suffix;
  // A name and a value that the launcher gives to its ranks and does not have itself.
  std::string_view variable;
  std::string value;
  bool on_one_host() const noexcept { return size != 0 && local_size == size; }
  // Whether the launcher is one of MPI's: torchrun is none.
  bool of_mpi() const noexcept { return launcher.find("torch") == std::string_view::npos; }
};

// In the environment of a rank that is measured, and of all that it starts: job and rank, so that a
// process that inherits the variables of its launcher is not taken for that rank.
inline constexpr char kRankVariable[] = "TIMELOOM_RANK";
// The user's name for the job, where the launcher has none or the same for several.
inline constexpr char kJobVariable[] = "TIMELOOM_JOB";

// The value of a variable of the environment; empty: it is not set.
using Variables = std::function<std::string(std::string_view name)>;

// Variables of an environment like environ(7), which outlives the result.
Variables variables_of(const char* const* environment);

// None: no launcher has started it.
std::optional<LaunchedRank> launched_rank(const Variables& variables);

// The same, with the job made unique by what the system knows of the launcher's process, and
// without children of a rank. An empty job: nothing tells it.
std::optional<LaunchedRank> launched_rank_of_this_process(const char* const* environment);

// The value of kRankVariable.
std::string rank_mark(const LaunchedRank& rank);

}  // namespace timeloom
