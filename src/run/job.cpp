#include "run/job.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "os/directory.hpp"
#include "run/contents.hpp"
#include "run/open_directory.hpp"
#include "run/ranks_of_group.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPointer = ".timeloom-job-";
constexpr char kJobName[] = "job";
// The targets of a pointer, which are never paths of existing files.
constexpr std::string_view kMaking = "?";
constexpr std::string_view kReady = ":";
constexpr std::chrono::seconds kLongestWait{30};

std::string pointer_name(const std::string& job, const std::string& requested_name) {
  const std::string key = job + '\n' + requested_name;
  const auto bytes = std::as_bytes(std::span(key));
  // Two hashes of 32 bits, the second one continuing from the first.
  const std::uint32_t first = checksum(bytes.data(), bytes.size());
  const std::uint32_t second = checksum(bytes.data(), bytes.size(), ~first);
  char text[17];
  std::snprintf(text, sizeof text, "%08x%08x", first, second);
  return std::string(kPointer) + text;
}

// The target of a link; empty: there is no link.
std::string target_of(const fs::path& link) {
  std::array<char, 4096> text{};
  const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
  return size < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

// The run named by a pointer in `rendezvous`; empty: it leads out of that, or names none yet.
fs::path run_at(const fs::path& rendezvous, const std::string& target) {
  if (!target.starts_with(kReady)) return {};
  const fs::path way = fs::path(target.substr(kReady.size())).lexically_normal();
  if (way.empty() || way.is_absolute() || *way.begin() == "..") return {};
  return rendezvous / way;
}

// Makes a network file system look again at a directory's entries.
void refresh(const fs::path& directory) {
  int ignored = 0;
  (void)os::Directory::open(directory.string(), &ignored);
}

fs::path spools_of(const fs::path& run) { return run / name_of(Item::kSpool); }

bool is_own_link(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

[[noreturn]] void fail_on_job(const fs::path& path, int error) {
  throw EnvironmentError("cannot write to " + path.string() + ": " + std::strerror(error) +
                         "; choose another directory with --output [TL220]");
}

// Makes the link name the run.
void replace_pointer(const fs::path& link, const fs::path& run) {
  const fs::path rendezvous = link.parent_path();
  const fs::path next = link.string() + ".new";  // only one process at a time makes it
  const std::string target = std::string(kReady) + run.lexically_proximate(rendezvous).string();
  ::unlink(next.c_str());
  if (::symlink(target.c_str(), next.c_str()) != 0) fail_on_job(rendezvous, errno);
  if (::rename(next.c_str(), link.c_str()) != 0) fail_on_job(rendezvous, errno);
}

std::string marker_text(const std::string& job, const std::string& requested_name) {
  return job + '\n' + requested_name;
}

// Empty: there is no such link.
std::string marker_of(const Directory& run) {
  int error = 0;
  const os::File file = run.open_plain(Item::kSpool).open_file(kJobName, &error);
  if (!file.is_open()) return {};
  constexpr std::size_t kLongest = 1 << 16;
  std::string text(kLongest, '\0');
  text.resize(file.read_at(0, std::as_writable_bytes(std::span(text)), &error));
  return text;
}

}  // namespace

JobPointer::JobPointer(fs::path rendezvous, const std::string& job,
                       const std::string& requested_name)
    : rendezvous_(std::move(rendezvous)), name_(pointer_name(job, requested_name)) {}

bool JobPointer::claim() const {
  const fs::path link = rendezvous_ / name_;
  if (::symlink(std::string(kMaking).c_str(), link.c_str()) == 0) return true;
  if (errno != EEXIST) fail_on_job(rendezvous_, errno);
  return false;
}

void JobPointer::publish(const fs::path& run) const { replace_pointer(rendezvous_ / name_, run); }

void JobPointer::withdraw() const noexcept { ::unlink((rendezvous_ / name_).c_str()); }

bool JobPointer::exists() const { return !target_of(rendezvous_ / name_).empty(); }

std::optional<fs::path> JobPointer::wait() const {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  for (auto pause = 1ms; std::chrono::steady_clock::now() < end;
       pause = std::min(2 * pause, 50ms)) {
    const std::string target = target_of(rendezvous_ / name_);
    if (target.empty()) return std::nullopt;
    if (target.starts_with(kReady)) {
      const fs::path run = run_at(rendezvous_, target);
      const bool usable = !run.empty() && is_own_link(rendezvous_ / name_);
      return usable ? std::optional(run.lexically_normal()) : std::nullopt;
    }
    std::this_thread::sleep_for(pause);
    refresh(rendezvous_);
  }
  return std::nullopt;
}

namespace {

using MakeRun = std::function<KnownDirectory(unsigned program)>;

using Undo = std::function<void()>;

// Assigns a run that `make` has made to the job. If that fails, undoes the run, unless another
// process has put its own there meanwhile.
void share_made(const KnownDirectory& run, const JobRank& rank, const Undo& undo) {
  try {
    mark_job(run, rank.job, rank.requested_name);
    if (take_rank(run, rank.rank)) return;
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::file_exists) undo();
    throw;
  }
  throw Error("another process records into " + run.path() + " [TL232]");
}

KnownDirectory make_shared(const JobPointer& pointer, const JobRank& rank, unsigned program,
                           const MakeRun& make, const Undo& undo) {
  try {
    KnownDirectory run = make(program);
    share_made(run, rank, undo);  // before others may claim it: its files would be in their way
    pointer.publish(run.path());
    return run;
  } catch (...) {
    pointer.withdraw();
    throw;
  }
}

// None: the rank has taken part in it already, with an earlier program.
std::optional<SharedRun> share_one(const fs::path& rendezvous, const JobRank& rank,
                                   unsigned program, const MakeRun& make, const Undo& undo) {
  const JobPointer pointer(rendezvous, rank.job, rank.requested_name);
  constexpr int kMostTries = 16;  // in each, another rank failed to make the run
  for (int i = 0; i < kMostTries; ++i) {
    if (pointer.claim())
      return SharedRun{make_shared(pointer, rank, program, make, undo), true, {}};
    const std::optional<fs::path> path = pointer.wait();
    if (!path && !pointer.exists()) continue;
    const auto run = path ? run_of_job(*path, rank.job) : std::nullopt;
    if (path && !run && pointer.wait() != path) continue;  // it was renamed
    if (!run) {
      return SharedRun{{}, false, "the run of its job is not there"};
    }
    if (!take_rank(*run, rank.rank)) return std::nullopt;
    return SharedRun{*run, false, {}};
  }
  return SharedRun{{}, false, "the run of its job cannot be made"};
}

// The number of programs of a job whose runs may be unfinished at the same time.
constexpr unsigned kMostPrograms = 8;

JobRank of_program(const JobRank& rank, unsigned program) {
  JobRank result = rank;
  if (program > 1) result.job += " program " + std::to_string(program);
  return result;
}

// The first program of the job whose run exists: a rank whose run is finished joins the ranks that
// are further ahead.
std::optional<unsigned> first_program(const fs::path& rendezvous, const JobRank& rank) {
  for (unsigned program = 1; program <= kMostPrograms; ++program) {
    if (JobPointer(rendezvous, of_program(rank, program).job, rank.requested_name).exists())
      return program;
  }
  return std::nullopt;
}

}  // namespace

bool has_run(const fs::path& rendezvous, const JobRank& rank) {
  return first_program(rendezvous, rank).has_value();
}

SharedRun share_run(const fs::path& rendezvous, const JobRank& rank, const MakeRun& make,
                    const Undo& undo) {
  for (unsigned program = first_program(rendezvous, rank).value_or(1); program <= kMostPrograms;
       ++program) {
    const auto run = share_one(rendezvous, of_program(rank, program), program, make, undo);
    if (run) return *run;
  }
  return {{}, false, "the runs of too many programs before are not finished"};
}

void mark_job(const KnownDirectory& run, const std::string& job,
              const std::string& requested_name) {
  int error = 0;
  const os::Directory directory = run.open(&error);
  if (error == 0) error = make_in_group(directory, name_of(Item::kSpool));
  const os::Directory spools = error == 0 ? open_spools(run, &error) : os::Directory{};
  if (error != 0) fail_to_make(spools_of(run.path()), error);
  os::File file = spools.create_file(kJobName, &error);
  const std::string text = marker_text(job, requested_name);
  if (error == 0) error = file.write_at(0, std::as_bytes(std::span(text)));
  if (error != 0) fail_to_make(spools_of(run.path()) / kJobName, error);
}

std::optional<KnownDirectory> run_of_job(const fs::path& path, const std::string& job) try {
  const Directory run(path);
  const bool own = run.owner() == ::geteuid() && run.is_at_its_path();
  return own && marker_of(run).starts_with(job + '\n') ? std::optional(run.known()) : std::nullopt;
} catch (const std::system_error&) {
  return std::nullopt;
}

bool take_rank(const KnownDirectory& run, std::uint32_t rank) {
  int error = 0;
  const os::Directory spools = open_spools(run, &error);
  if (!spools.is_open()) fail_to_make(spools_of_rank(run.path(), rank), error);
  return take_rank_in(spools, spools_of(run.path()), rank);
}

Others end_rank(const KnownDirectory& run, std::uint32_t rank, std::uint32_t size,
                std::chrono::milliseconds timeout) {
  int ignored = 0;
  return end_rank_in(open_spools(run, &ignored), rank, size, timeout);
}

bool others_record(const KnownDirectory& run, std::uint32_t rank) {
  int error = 0;
  const os::Directory spools = open_spools(run, &error);
  return spools.is_open() && others_record(spools, rank, true);
}

std::string text_of_missing(const fs::path& run, std::uint32_t size) {
  return "of the " + std::to_string(size) + " ranks of this job not all record into " +
         run.string() +
         "; late ones join it, the others are not measured or started in another directory [TL243]";
}

std::string text_of_unknown_size(std::string_view launcher) {
  return std::string(launcher) +
         " does not tell how many ranks there are; the next command weaves their run";
}

namespace {

// The link to `path` that is named in the run's file `job`; empty: there is none. Anybody may have
// written that file, so only a pointer to this run counts.
fs::path pointer_to(const Directory& run, const fs::path& path) {
  const std::string marker = marker_of(run);
  const std::size_t end = marker.find('\n');
  if (end == std::string::npos) return {};
  const std::string name = pointer_name(marker.substr(0, end), marker.substr(end + 1));
  const fs::path directory = fs::absolute(path).lexically_normal();
  for (fs::path at = directory.parent_path();; at = at.parent_path()) {
    const std::string target = target_of(at / name);
    if (run_at(at, target).lexically_normal() == directory) return at / name;
    if (!target.empty() || at == at.parent_path()) return {};
  }
}

}  // namespace

void move_job(const Directory& run, const fs::path& before) noexcept try {
  const fs::path link = pointer_to(run, before);
  if (!link.empty()) replace_pointer(link, fs::absolute(run.path()).lexically_normal());
} catch (const std::exception&) {  // late ranks have runs of their own
}

void forget_job(const Directory& run) noexcept try {
  const fs::path link = pointer_to(run, run.path());
  if (!link.empty()) ::unlink(link.c_str());
} catch (const std::exception&) {  // it harms nobody
}

}  // namespace timeloom::run
