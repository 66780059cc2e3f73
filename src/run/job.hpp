// The run that the ranks of a job share, which each rank finds without messages to others.
//
// The ranks meet in a directory. The first one makes a symbolic link there that is named after the
// job (a JobPointer), makes the run, and lets the link name the run; the others read the link. It
// does not lead to a file, so that nobody takes it for a run; weaving removes it. In the run,
//
//     spool/job            the job, so that no other job ever records into the run
//     spool/rank-N/        the spools of rank N and its child processes, and their common files;
//                          the process that makes the directory is the rank. If another process
//                          than the recording one ends the rank, as `timeloom run --program` does,
//                          its file `life` (core/life.hpp) is there until then
//     spool/ended/L-I      left by ranks that have ended. Each rank climbs a binary tree from its
//                          leaf; of the two ranks that reach a node only the second climbs on, and
//                          the one that reaches the top is the last of the job. The first climbs on
//                          itself if no process is left of the ranks in the other half, as after
//                          they were killed
//     spool/ended/missing  left by a rank that has found no rank of the other half: they are late,
//                          on a machine out of reach, or not measured. From then on a rank is the
//                          last if no other rank records
//
// Everything is made by mkdir(2) and symlink(2), at which exactly one process of all machines
// succeeds, on every file system. There are no locks, no rank lists a directory unless others are
// missing, and the work of a rank grows with the logarithm of their number. Functions throw Error;
// any thread may call them.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/known_directory.hpp"

namespace timeloom::run {

class Directory;

class JobPointer {
 public:
  // `rendezvous`: an existing directory, the same for all ranks. `job`: the job's id.
  // `requested_name`: the name that the user wants for the run; ranks with different names have
  // different runs.
  JobPointer(std::filesystem::path rendezvous, const std::string& job,
             const std::string& requested_name);

  // True: this process has to make the run, and then to call publish() or withdraw().
  bool claim() const;
  void publish(const std::filesystem::path& run) const;
  void withdraw() const noexcept;
  bool exists() const;
  // Waits until the process that makes the run is ready. None: it has withdrawn or takes too long.
  std::optional<std::filesystem::path> wait() const;

 private:
  std::filesystem::path rendezvous_;
  std::string name_;
};

// A rank and its job; `requested_name` as above.
struct JobRank {
  std::string job;
  std::string requested_name;
  std::uint32_t rank = 0;
  std::uint32_t size = 0;  // 0: not known
};

// Whether a program of the job has made a run that is not finished, or is about to make one.
bool has_run(const std::filesystem::path& rendezvous, const JobRank& rank);

// The run that a rank shares with others.
struct SharedRun {
  KnownDirectory run;
  bool made = false;    // by this rank; otherwise it has joined
  std::string refused;  // why the rank shares no run; empty: it shares one
};

// Joins the run of the job, or makes it with `make`, which returns the run and whose exceptions are
// passed on. `undo` removes that run if it cannot be shared after all. If a rank starts a second
// program while the run of its first is not finished, that program shares another run with the
// second programs of the other ranks, and so on; `make` gets the number of the program, from 1 on.
// Afterwards the rank has its directory of spools. Throws Error and std::system_error.
SharedRun share_run(
    const std::filesystem::path& rendezvous, const JobRank& rank,
    const std::function<KnownDirectory(unsigned program)>& make,
    const std::function<void()>& undo = [] {});

// Assigns the run to the job, and makes the directory of its spools. Throws std::system_error.
void mark_job(const KnownDirectory& run, const std::string& job, const std::string& requested_name);
// The run at the path, if it belongs to the job and to this user, and is not a link.
std::optional<KnownDirectory> run_of_job(const std::filesystem::path& run, const std::string& job);

// The directory of the spools of a rank.
std::filesystem::path spools_of_rank(const std::filesystem::path& run, std::uint32_t rank);
// The rank whose spools lie in the directory of that name; none: the name is not a rank's.
std::optional<std::uint32_t> rank_of_directory(const std::string& name);
// Makes the rank's directory. False: another process is that rank. Throws std::system_error.
bool take_rank(const KnownDirectory& run, std::uint32_t rank);

enum class Others : std::uint8_t {
  kEnded,    // all have ended: this rank is the last
  kGoOn,     // some record: the last of them does the rest
  kNotHere,  // this rank is the last that came: others have not started, or never will
};
// Called when a rank has ended. Waits up to `timeout` for a rank that has not started. REQUIRES:
// size > rank.
Others end_rank(const KnownDirectory& run, std::uint32_t rank, std::uint32_t size,
                std::chrono::milliseconds timeout = {});

// The timeout of a rank: some may have ended before others start, above all on other hosts.
inline constexpr std::chrono::milliseconds kTimeoutForLateRanks{2000};
// The message of a rank that has waited for others in vain, and the message of a rank that cannot
// know which rank is the last.
std::string text_of_missing(const std::filesystem::path& run, std::uint32_t size);
std::string text_of_unknown_size(std::string_view launcher);

// The name of the directory, beside the spools, that holds the tree of ended ranks.
inline constexpr char kEndedName[] = "ended";

// Whether another rank records into the run, or is about to.
bool others_record(const KnownDirectory& run, std::uint32_t rank);
// Lets the pointer to a run name `run`, which was renamed from `before` in the same directory.
void move_job(const Directory& run, const std::filesystem::path& before) noexcept;
// Removes the pointer to a run whose spools are about to be removed.
void forget_job(const Directory& run) noexcept;

}  // namespace timeloom::run
