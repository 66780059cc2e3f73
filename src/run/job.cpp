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
#include "core/life.hpp"
#include "core/mpi_rank.hpp"
#include "core/spool_name.hpp"
#include "os/directory.hpp"
#include "run/contents.hpp"
#include "run/directory.hpp"
#include "run/ranks_of_group.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPointer = ".timeloom-job-";
constexpr std::string_view kRankDirectory = "rank-";
constexpr char kJobName[] = "job";
constexpr char kTopName[] = "top";  // of the tree of those that have ended
// The targets of a pointer: no path of anything that there is.
constexpr std::string_view kMaking = "?";
constexpr std::string_view kReady = ":";
constexpr std::chrono::seconds kLongestWait{30};

std::string pointer_name(const std::string& job, const std::string& wish) {
  const std::string key = job + '\n' + wish;
  const auto bytes = std::as_bytes(std::span(key));
  // Two of 32 bits, the second of what follows the first.
  const std::uint32_t first = checksum(bytes.data(), bytes.size());
  const std::uint32_t second = checksum(bytes.data(), bytes.size(), ~first);
  char text[17];
  std::snprintf(text, sizeof text, "%08x%08x", first, second);
  return std::string(kPointer) + text;
}

// What a link says; empty: there is none.
std::string target_of(const fs::path& link) {
  std::array<char, 4096> text{};
  const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
  return size < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

// The run that a pointer in `meeting` leads to; empty: it leads out of that, or to none yet.
fs::path run_at(const fs::path& meeting, const std::string& target) {
  if (!target.starts_with(kReady)) return {};
  const fs::path way = fs::path(target.substr(kReady.size())).lexically_normal();
  if (way.empty() || way.is_absolute() || *way.begin() == "..") return {};
  return meeting / way;
}

bool is_own(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

// Lets a network file system look again at what others have put into a directory.
void refresh(const fs::path& directory) {
  int ignored = 0;
  (void)os::Directory::open(directory.string(), &ignored);
}

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Obstacle("cannot write to " + path.string() + ": " + std::strerror(error) +
                 "; choose another directory with --output");
}

[[noreturn]] void fail_to_make(const fs::path& directory, int error) {
  throw fs::filesystem_error("cannot create", directory,
                             std::error_code(error, std::generic_category()));
}

fs::path spools_of(const fs::path& run) { return run / name_of(Item::kSpool); }

std::string name_of_rank(std::uint32_t rank) {
  return std::string(kRankDirectory) + std::to_string(rank);
}

bool is_there(const os::Directory& directory, const std::string& name) {
  int ignored = 0;
  return directory.kind(name, &ignored) != os::EntryKind::kNone;
}

std::string marker_text(const std::string& job, const std::string& wish) {
  return job + '\n' + wish;
}

// Empty: there is none.
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

JobPointer::JobPointer(fs::path meeting, const std::string& job, const std::string& wish)
    : meeting_(std::move(meeting)), name_(pointer_name(job, wish)) {}

bool JobPointer::claim() const {
  const fs::path link = meeting_ / name_;
  if (::symlink(std::string(kMaking).c_str(), link.c_str()) == 0) return true;
  if (errno != EEXIST) fail(meeting_, errno);
  return false;
}

void JobPointer::publish(const fs::path& run) const {
  const fs::path link = meeting_ / name_;
  const fs::path next = link.string() + ".new";  // only its claimer makes it
  const std::string target = std::string(kReady) + run.lexically_proximate(meeting_).string();
  ::unlink(next.c_str());
  if (::symlink(target.c_str(), next.c_str()) != 0) fail(meeting_, errno);
  if (::rename(next.c_str(), link.c_str()) != 0) fail(meeting_, errno);
}

void JobPointer::withdraw() const noexcept { ::unlink((meeting_ / name_).c_str()); }

bool JobPointer::exists() const { return !target_of(meeting_ / name_).empty(); }

std::optional<fs::path> JobPointer::wait() const {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  for (auto pause = 1ms; std::chrono::steady_clock::now() < end;
       pause = std::min(2 * pause, 50ms)) {
    const std::string target = target_of(meeting_ / name_);
    if (target.empty()) return std::nullopt;
    if (target.starts_with(kReady)) {
      const fs::path run = run_at(meeting_, target);
      const bool usable = !run.empty() && is_own(meeting_ / name_);
      return usable ? std::optional(run.lexically_normal()) : std::nullopt;
    }
    std::this_thread::sleep_for(pause);
    refresh(meeting_);
  }
  return std::nullopt;
}

namespace {

using MakeRun = std::function<fs::path(unsigned program)>;

fs::path make_shared(const JobPointer& pointer, const JobRank& rank, unsigned program,
                     const MakeRun& make) {
  try {
    const fs::path run = make(program);
    mark_job(run, rank.job, rank.wish);
    if (!take_rank(run, rank.rank)) throw Error("another process records into " + run.string());
    pointer.publish(run);
    return run;
  } catch (...) {
    pointer.withdraw();
    throw;
  }
}

// None: the rank has been in it, with a program before.
std::optional<SharedRun> share_one(const fs::path& meeting, const JobRank& rank, unsigned program,
                                   const MakeRun& make) {
  const JobPointer pointer(meeting, rank.job, rank.wish);
  constexpr int kMostTries = 16;  // each time another rank could not make it
  for (int i = 0; i < kMostTries; ++i) {
    if (pointer.claim()) return SharedRun{make_shared(pointer, rank, program, make), true, {}};
    const std::optional<fs::path> run = pointer.wait();
    if (!run && !pointer.exists()) continue;
    if (!run || !is_of_job(*run, rank.job)) {
      return SharedRun{{}, false, "the run of its job is not there"};
    }
    if (!take_rank(*run, rank.rank)) return std::nullopt;
    return SharedRun{*run, false, {}};
  }
  return SharedRun{{}, false, "the run of its job cannot be made"};
}

// Programs of a job whose runs are not finished at one time.
constexpr unsigned kMostPrograms = 8;

JobRank of_program(const JobRank& rank, unsigned program) {
  JobRank result = rank;
  if (program > 1) result.job += " program " + std::to_string(program);
  return result;
}

// The first program of the job whose run is there: a rank whose run is finished joins those that
// have gone ahead.
std::optional<unsigned> first_program(const fs::path& meeting, const JobRank& rank) {
  for (unsigned program = 1; program <= kMostPrograms; ++program) {
    if (JobPointer(meeting, of_program(rank, program).job, rank.wish).exists()) return program;
  }
  return std::nullopt;
}

}  // namespace

bool has_run(const fs::path& meeting, const JobRank& rank) {
  return first_program(meeting, rank).has_value();
}

SharedRun share_run(const fs::path& meeting, const JobRank& rank, const MakeRun& make) {
  for (unsigned program = first_program(meeting, rank).value_or(1); program <= kMostPrograms;
       ++program) {
    const auto run = share_one(meeting, of_program(rank, program), program, make);
    if (run) return *run;
  }
  return {{}, false, "the runs of too many programs before are not finished"};
}

void mark_job(const fs::path& run, const std::string& job, const std::string& wish) {
  int error = 0;
  const os::Directory directory = os::Directory::open(run.string(), &error);
  if (error == 0) error = make_in_group(directory, name_of(Item::kSpool));
  const os::Directory spools = error == 0 ? open_spools(run, &error) : os::Directory{};
  if (error != 0) fail_to_make(spools_of(run), error);
  os::File file = spools.create_file(kJobName, &error);
  const std::string text = marker_text(job, wish);
  if (error == 0) error = file.write_at(0, std::as_bytes(std::span(text)));
  if (error != 0) fail_to_make(spools_of(run) / kJobName, error);
}

bool is_of_job(const fs::path& run, const std::string& job) {
  std::error_code error;
  return fs::is_directory(run, error) && is_own(run) &&
         marker_of(Directory(run)).starts_with(job + '\n');
}

fs::path spools_of_rank(const fs::path& run, std::uint32_t rank) {
  return spools_of(run) / name_of_rank(rank);
}

std::optional<std::uint32_t> rank_of_directory(const std::string& name) {
  if (!name.starts_with(kRankDirectory)) return std::nullopt;
  return rank_in(std::string_view(name).substr(kRankDirectory.size()));
}

os::Directory open_spools(const fs::path& run, int* error) noexcept {
  const os::Directory directory = os::Directory::open(run.string(), error);
  if (!directory.is_open()) return {};
  return directory.open_below(name_of(Item::kSpool), error);
}

int make_in_group(const os::Directory& group, const std::string& name) noexcept {
  const int error = group.make_directory(name);
  if (error != EEXIST) return error;
  int ignored = 0;
  return group.kind(name, &ignored) == os::EntryKind::kDirectory ? 0 : ENOTDIR;
}

bool take_rank(const fs::path& run, std::uint32_t rank) {
  int error = 0;
  const os::Directory spools = open_spools(run, &error);
  if (!spools.is_open()) fail_to_make(spools_of_rank(run, rank), error);
  return take_rank_in(spools, spools_of(run), rank);
}

bool take_rank_in(const os::Directory& group, const fs::path& where, std::uint32_t rank) {
  const std::string name = name_of_rank(rank);
  int error = group.make_directory(name);
  if (error == 0) return true;
  if (error == EEXIST) error = make_in_group(group, name);
  if (error != 0) fail_to_make(where / name, error);
  return false;
}

namespace {

// Whether the rank has begun and no process of it is left. Nobody else says so of one that was
// killed.
bool is_gone(const os::Directory& group, std::uint32_t rank) {
  int error = 0;
  const os::Directory directory = group.open_below(name_of_rank(rank), &error);
  if (!directory.is_open()) return false;
  const std::string path = directory.path_of_descriptor();
  bool any = false;
  for (const std::string& name : directory.names(&error)) {
    if (directory.kind(name, &error) != os::EntryKind::kDirectory) continue;
    if (path.empty() || !maker_is_gone(name)) return false;
    if (alive(path + "/" + name) != Alive::kNo) return false;
    any = true;
  }
  return any;
}

// So that no rank looks for all.
constexpr std::uint32_t kMostLookedAt = 64;

// The same of all ranks below a node.
bool are_gone(const os::Directory& group, std::uint32_t first, std::uint32_t end) {
  if (end - first > kMostLookedAt) return false;
  for (std::uint32_t rank = first; rank < end; ++rank) {
    if (!is_gone(group, rank)) return false;
  }
  return true;
}

// Whether a rank is there, or comes.
bool begins_within(std::chrono::milliseconds patience, const os::Directory& group,
                   std::uint32_t rank) {
  constexpr std::chrono::milliseconds kPause{10};
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!is_there(group, name_of_rank(rank))) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kPause);
    refresh(group.path_of_descriptor());
  }
  return true;
}

}  // namespace

bool is_group_gone(const os::Directory& group) {
  int error = 0;
  std::uint32_t ranks = 0;
  for (const std::string& name : group.names(&error)) {
    const std::optional<std::uint32_t> rank = rank_of_directory(name);
    if (!rank) continue;
    if (++ranks > kMostLookedAt || !is_gone(group, *rank)) return false;
  }
  return ranks > 0;
}

Others end_rank(const fs::path& run, std::uint32_t rank, std::uint32_t size,
                std::chrono::milliseconds patience) {
  int ignored = 0;
  return end_rank_in(open_spools(run, &ignored), rank, size, patience);
}

Others end_rank_in(const os::Directory& group, std::uint32_t rank, std::uint32_t size,
                   std::chrono::milliseconds patience) {
  if (!group.is_open() || make_in_group(group, kEndedName) != 0) return Others::kGoOn;
  int ignored = 0;
  const os::Directory ended = group.open_below(kEndedName, &ignored);
  if (!ended.is_open()) return Others::kGoOn;
  std::uint32_t index = rank, count = size;
  for (int level = 1; count > 1; ++level, index /= 2, count = (count + 1) / 2) {
    const std::uint32_t other = index ^ 1u;
    if (other >= count) continue;  // nobody else comes to the node above
    const int error = ended.make_directory(std::to_string(level) + "-" + std::to_string(index / 2));
    if (error == EEXIST) continue;
    const int below = level - 1;
    if (error == 0 && are_gone(group, other << below, std::min(size, (other + 1) << below)))
      continue;
    const bool begun = error != 0 || begins_within(patience, group, other << below);
    return begun ? Others::kGoOn : Others::kNotHere;
  }
  // A rank that was taken for gone may come here itself.
  return ended.make_directory(kTopName) == EEXIST ? Others::kGoOn : Others::kEnded;
}

void forget_job(const Directory& run) noexcept try {
  const std::string marker = marker_of(run);
  const std::size_t end = marker.find('\n');
  if (end == std::string::npos) return;
  const std::string name = pointer_name(marker.substr(0, end), marker.substr(end + 1));
  const fs::path directory = fs::absolute(run.path()).lexically_normal();
  for (fs::path at = directory.parent_path();; at = at.parent_path()) {
    const std::string target = target_of(at / name);
    // The marker may have been written by anybody: only a pointer to this run goes.
    if (run_at(at, target).lexically_normal() == directory) ::unlink((at / name).c_str());
    if (!target.empty() || at == at.parent_path()) return;
  }
} catch (const std::exception&) {  // it harms nobody
}

}  // namespace timeloom::run
