// The run that the ranks of a job share, found by each of them without asking another.
//
// The ranks meet in a directory. The first one makes a symbolic link there that is named after the
// job (a JobPointer), makes the run, and lets the link name it; the others read it. The link leads
// nowhere, so that nobody takes it for a run; it goes when the run is woven. In the run,
//
//     spool/job            the job, so that no other ever records into it
//     spool/rank-N/        the spools of rank N and of its children, and what they share; whoever
//                          makes the directory is the rank. Where another process than that of
//                          the spools ends the rank, as `timeloom run --program` does, its file
//                          `life` (core/life.hpp) is there until then
//     spool/ended/L-I      left by ranks that have ended: each climbs a binary tree, and of the two
//                          that come to a node only the second goes on; who is at the top is last.
//                          The first goes on as well if of the ranks from which the second would
//                          come there are no processes left, as where they were killed.
//     spool/ended/missing  left by a rank that has found nobody of those from which the second
//     would
//                          come: they are late, elsewhere, or not measured. From then on a rank is
//                          the last when no other one records
//
// All is made by mkdir(2) and symlink(2), which one of all machines does first, on every file
// system; there are no locks, no rank lists a directory unless others are missing, and what a rank
// does grows with the logarithm of their number. Functions throw Error; any thread may call them.
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
  // `meeting`: the same directory for all ranks, which exists. `job` is the job's id, `wish` what
  // the user wants the run to be called: ranks that want different names have different runs.
  JobPointer(std::filesystem::path meeting, const std::string& job, const std::string& wish);

  // True: it is for this process to make the run, and then to publish() or withdraw().
  bool claim() const;
  void publish(const std::filesystem::path& run) const;
  void withdraw() const noexcept;
  bool exists() const;
  // The run, when the process that makes it is ready. None: it has withdrawn, or takes too long.
  std::optional<std::filesystem::path> wait() const;

 private:
  std::filesystem::path meeting_;
  std::string name_;
};

// A rank and its job; `wish` as above.
struct JobRank {
  std::string job;
  std::string wish;
  std::uint32_t rank = 0;
  std::uint32_t size = 0;  // 0: not known
};

// Whether a program of the job has made a run, or is about to, which is not finished.
bool has_run(const std::filesystem::path& meeting, const JobRank& rank);

// The run that a rank shares with others.
struct SharedRun {
  KnownDirectory run;
  bool made = false;    // by this rank; otherwise it has joined
  std::string refused;  // why the rank shares none; empty: it does
};

// Joins the run of the job, or makes it by `make`, which returns it; what that throws is
// passed on. `undo` removes what it has made where the run cannot be shared after all. A program
// that a rank begins while the run of its first is not finished shares another one with the second
// programs of the other ranks, and so on; `make` is told the number, from 1 on. The rank has its
// directory of spools then. Throws Error and std::system_error.
SharedRun share_run(
    const std::filesystem::path& meeting, const JobRank& rank,
    const std::function<KnownDirectory(unsigned program)>& make,
    const std::function<void()>& undo = [] {});

// Makes the run that of the job, and the directory of its spools. Throws std::system_error.
void mark_job(const KnownDirectory& run, const std::string& job, const std::string& wish);
// The run at the path, if it is that of the job, and of this user; a link is none.
std::optional<KnownDirectory> run_of_job(const std::filesystem::path& run, const std::string& job);

// The directory of the spools of a rank.
std::filesystem::path spools_of_rank(const std::filesystem::path& run, std::uint32_t rank);
// The rank whose spools lie in the directory of that name; none: it is that of a spool.
std::optional<std::uint32_t> rank_of_directory(const std::string& name);
// Makes it. False: another process has been that rank. Throws std::system_error.
bool take_rank(const KnownDirectory& run, std::uint32_t rank);

enum class Others : std::uint8_t {
  kEnded,    // all: this rank is the last
  kGoOn,     // the last of them sees to the rest
  kNotHere,  // this rank is the last of those that are here: others have not begun, or do not come
};
// Called when a rank has ended. Waits up to `patience` for one that has not begun. REQUIRES: size >
// rank.
Others end_rank(const KnownDirectory& run, std::uint32_t rank, std::uint32_t size,
                std::chrono::milliseconds patience = {});

// The patience of a rank: some may have ended before others begin, on another host above all.
inline constexpr std::chrono::milliseconds kPatienceWithLate{2000};
// The lines of a rank that nobody comes to, and of one that cannot know who is the last.
std::string text_of_missing(const std::filesystem::path& run, std::uint32_t size);
std::string text_of_unknown_size(std::string_view launcher);

// The name of the directory of the tree in that of the spools.
inline constexpr char kEndedName[] = "ended";

// Whether another rank records into the run, or begins to.
bool others_record(const KnownDirectory& run, std::uint32_t rank);
// Lets the pointer to a run lead to `run`, as it has been renamed from `before` in its directory.
void move_job(const Directory& run, const std::filesystem::path& before) noexcept;
// Removes the pointer to a run whose spools are about to be removed.
void forget_job(const Directory& run) noexcept;

}  // namespace timeloom::run
