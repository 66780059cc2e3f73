#include "settings/launched_rank.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <initializer_list>
#include <span>

#include "core/checksum.hpp"
#include "os/process.hpp"

namespace timeloom {
namespace {

// In each list, the first variable that holds a number counts.
struct Launcher {
  std::string_view name;
  std::array<std::string_view, 2> rank;
  std::array<std::string_view, 3> size;
  std::array<std::string_view, 2> local_size;
  std::array<std::string_view, 2> needed;  // without these it is not this launcher
  std::array<std::string_view, 3> job;     // all of them together
};

// A launcher that runs inside the job of another one comes before it. (Open MPI's daemons are
// started by srun, and torchrun often is.)
constexpr Launcher kLaunchers[] = {
    {"torchrun",
     {"RANK"},
     {"WORLD_SIZE"},
     {"LOCAL_WORLD_SIZE"},
     {"TORCHELASTIC_RUN_ID", "WORLD_SIZE"},
     {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"}},
    {"Open MPI",
     {"OMPI_COMM_WORLD_RANK"},
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"},
     {"OMPI_COMM_WORLD_SIZE"},
     {"PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri"}},
    {"MVAPICH",
     {"MV2_COMM_WORLD_RANK"},
     {"MV2_COMM_WORLD_SIZE"},
     {"MV2_COMM_WORLD_LOCAL_SIZE"},
     {"MV2_COMM_WORLD_SIZE"},
     {}},
    {"PALS", {"PALS_RANKID"}, {"PALS_SIZE", "PMI_SIZE"}, {"PALS_LOCAL_SIZE"}, {}, {"PALS_APID"}},
    {"PMIx",
     {"PMIX_RANK"},
     {"PMIX_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"},
     {},
     {"PMIX_NAMESPACE"},
     {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"MPICH", {"PMI_RANK"}, {"PMI_SIZE"}, {"MPI_LOCALNRANKS"}, {"PMI_SIZE", "MPI_LOCALNRANKS"}, {}},
    {"Slurm",
     {"SLURM_PROCID"},
     {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"},
     {},
     {"SLURM_STEP_ID", "SLURM_JOB_ID"},
     {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"PMI", {"PMI_RANK"}, {"PMI_SIZE"}, {}, {"PMI_SIZE"}, {}},
    {"torchrun",
     {"RANK"},
     {"WORLD_SIZE"},
     {"LOCAL_WORLD_SIZE"},
     {"WORLD_SIZE"},
     {"MASTER_ADDR", "MASTER_PORT"}},
};

// More ranks than any job has.
constexpr std::uint32_t kMostRanks = 1u << 30;

std::optional<std::uint32_t> number_in(const std::string& text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc{} || stop != end || number > kMostRanks) return {};
  return number;
}

template <std::size_t Count>
std::optional<std::uint32_t> first_number(const std::array<std::string_view, Count>& names,
                                          const Variables& variables) {
  for (const std::string_view name : names) {
    if (name.empty()) break;
    if (const auto number = number_in(variables(name))) return number;
  }
  return std::nullopt;
}

// To Slurm, the shell of a batch script or of salloc is a step, with a number from here on.
constexpr std::uint64_t kFirstSpecialStep = 0xfffffff0;

bool is_step(const std::string& text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && stop == text.data() + text.size() && number < kFirstSpecialStep;
}

bool is_started_by(const Launcher& launcher, const Variables& variables) {
  return std::ranges::all_of(launcher.needed, [&](std::string_view name) {
    if (name.empty()) return true;
    const std::string value = variables(name);
    return name == "SLURM_STEP_ID" ? is_step(value) : !value.empty();
  });
}

// The values of all variables that are set, in one text; empty: the first is not set.
std::string joined_names(std::initializer_list<std::string_view> names,
                         const Variables& variables) {
  std::string text;
  for (const std::string_view name : names) {
    const std::string value = name.empty() ? std::string() : variables(name);
    if (value.empty() && text.empty()) return {};
    if (!value.empty()) text += std::string(text.empty() ? "" : " ") + value;
  }
  return text;
}

// How often all ranks have been started again under the same names, as a suffix that distinguishes
// their run from the one before: a batch job queued again by Slurm, a group of torchrun's workers.
struct Restarts {
  std::string_view variable;
  std::string_view suffix;
};
constexpr Restarts kRestarts[] = {{"SLURM_RESTART_COUNT", ".requeue-"},
                                  {"TORCHELASTIC_RESTART_COUNT", ".restart-"}};

std::string restart_suffix(const Variables& variables) {
  std::string text;
  for (const Restarts& restarts : kRestarts) {
    const std::uint32_t number = number_in(variables(restarts.variable)).value_or(0);
    if (number != 0) text += std::string(restarts.suffix) + std::to_string(number);
  }
  return text;
}

// The batch system's id, for a launcher without an id of its own.
std::string batch_job(const Variables& variables) {
  for (const std::string_view name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    if (const std::string value = variables(name); !value.empty()) {
      return std::string(name) + " " + value;
    }
  }
  return {};
}

std::optional<LaunchedRank> rank_by(const Launcher& launcher, const Variables& variables) {
  if (!is_started_by(launcher, variables)) return std::nullopt;
  const std::optional<std::uint32_t> rank = first_number(launcher.rank, variables);
  if (!rank) return std::nullopt;
  LaunchedRank result;
  result.launcher = launcher.name;
  result.rank = *rank;
  result.size = first_number(launcher.size, variables).value_or(0);
  if (result.size != 0 && *rank >= result.size) return std::nullopt;
  result.local_size = first_number(launcher.local_size, variables).value_or(0);
  result.job = joined_names({launcher.job[0], launcher.job[1], launcher.job[2]}, variables);
  if (result.job.empty()) result.job = batch_job(variables);
  // Hydra starts its ranks by a step of its own, so this tells the jobs in one batch job apart.
  const std::string step = launcher.name == "MPICH" ? variables("SLURM_STEP_ID") : std::string();
  if (!result.job.empty() && is_step(step)) result.job += " " + step;
  result.restart_suffix = restart_suffix(variables);
  if (!result.job.empty()) {
    result.job = std::string(launcher.name) + " " + result.job + result.restart_suffix;
  }
  result.variable = launcher.rank[0];
  result.value = variables(launcher.rank[0]);
  return result;
}

// Programs that start ranks, with their names as the system cuts them off.
constexpr std::string_view kLauncherPrograms[] = {"mpirun",     "mpiexec", "orterun", "orted",
                                                  "prte",       "prted",   "prterun", "hydra_",
                                                  "slurmstepd", "srun",    "palsd",   "pbs_"};

bool starts_ranks(const os::Ancestor& ancestor, const LaunchedRank& rank) {
  const bool named = std::ranges::any_of(
      kLauncherPrograms, [&](std::string_view name) { return ancestor.name.starts_with(name); });
  const std::string inherited = std::string(rank.variable) + "=" + rank.value;
  return named || std::ranges::find(ancestor.environment, inherited) == ancestor.environment.end();
}

// The process that has started the ranks of this machine; none: it is not visible.
std::optional<os::Ancestor> launching_process(const LaunchedRank& rank) {
  constexpr int kMostAncestors = 64;
  os::ProcessIdentity process = os::this_process();
  for (int i = 0; i < kMostAncestors; ++i) {
    const std::optional<os::Ancestor> parent = os::parent_of(process);
    if (!parent) return std::nullopt;
    if (starts_ranks(*parent, rank)) return parent;
    process = parent->process;
  }
  return std::nullopt;
}

std::string rank_text(const os::ProcessIdentity& process) {
  std::string text;
  for (const std::uint64_t part :
       {process.id, process.start, process.pid_namespace, process.boot[0], process.boot[1]}) {
    text += " " + std::to_string(part);
  }
  return text;
}

}  // namespace

Variables variables_of(const char* const* environment) {
  return [environment](std::string_view name) -> std::string {
    for (const char* const* one = environment; *one != nullptr; ++one) {
      const std::string_view entry = *one;
      if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
        return std::string(entry.substr(name.size() + 1));
      }
    }
    return {};
  };
}

std::optional<LaunchedRank> launched_rank(const Variables& variables) {
  for (const Launcher& launcher : kLaunchers) {
    if (const auto rank = rank_by(launcher, variables)) return rank;
  }
  return std::nullopt;
}

namespace {

// Shortens a name so that it fits into the head of a file.
std::string short_name(const std::string& name) {
  constexpr std::size_t kLongest = 1024;
  if (name.size() <= kLongest) return name;
  char check[9];
  std::snprintf(check, sizeof check, "%08x",
                checksum(std::as_bytes(std::span(name)).data(), name.size()));
  return name.substr(0, kLongest) + " " + std::to_string(name.size()) + " " + check;
}

}  // namespace

std::optional<LaunchedRank> launched_rank_of_this_process(const char* const* environment) {
  const Variables variables = variables_of(environment);
  std::optional<LaunchedRank> rank = launched_rank(variables);
  if (!rank) return rank;
  if (const auto launcher = rank->on_one_host() ? launching_process(*rank) : std::nullopt) {
    rank->job +=
        (rank->job.empty() ? std::string(rank->launcher) : "") + rank_text(launcher->process);
  }
  if (const std::string named = variables(kJobVariable); !named.empty()) {
    rank->job += (rank->job.empty() ? "named " : " named ") + short_name(named);
  }
  // It goes into files, as a line.
  for (char& byte : rank->job) {
    if (static_cast<unsigned char>(byte) < ' ' || byte == 0x7f) byte = '_';
  }
  if (variables(kRankVariable) == rank_mark(*rank)) return std::nullopt;
  return rank;
}

std::string rank_mark(const LaunchedRank& rank) {
  return std::to_string(rank.rank) + " " +
         (rank.job.empty() ? std::string(rank.launcher) : rank.job);
}

}  // namespace timeloom
