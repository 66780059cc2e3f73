#include "run/ranks_of_group.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/life.hpp"
#include "core/mpi/mpi_rank.hpp"
#include "core/spool_name.hpp"
#include "run/contents.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRankDirectory = "rank-";
constexpr char kTopName[] = "top";  // of the tree of ended ranks
// Beside the tree: made by a rank that has found others missing.
constexpr char kMissingName[] = "missing";

std::string name_of_rank(std::uint32_t rank) {
  return std::string(kRankDirectory) + std::to_string(rank);
}

}  // namespace

bool is_there(const os::Directory& directory, const std::string& name) {
  int ignored = 0;
  return directory.kind(name, &ignored) != os::EntryKind::kNone;
}

void fail_to_make(const fs::path& path, int error) {
  throw fs::filesystem_error("cannot create", path,
                             std::error_code(error, std::generic_category()));
}

fs::path spools_of_rank(const fs::path& run, std::uint32_t rank) {
  return run / name_of(Item::kSpool) / name_of_rank(rank);
}

std::optional<std::uint32_t> rank_of_directory(const std::string& name) {
  if (!name.starts_with(kRankDirectory)) return std::nullopt;
  return rank_in(std::string_view(name).substr(kRankDirectory.size()));
}

os::Directory open_spools(const KnownDirectory& run, int* error) {
  const os::Directory directory = run.open_to_list(error);
  if (!directory.is_open()) return {};
  return directory.open_below(name_of(Item::kSpool), error);
}

int make_in_group(const os::Directory& group, const std::string& name) noexcept {
  const int error = group.make_directory(name);
  if (error != EEXIST) return error;
  int ignored = 0;
  return group.kind(name, &ignored) == os::EntryKind::kDirectory ? 0 : ENOTDIR;
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

// Whether the rank has started and no process of it is left. A rank that was killed leaves no other
// sign.
bool is_gone(const os::Directory& group, std::uint32_t rank) {
  int error = 0;
  const os::Directory directory = group.open_below(name_of_rank(rank), &error);
  if (!directory.is_open()) return false;
  const auto open = [&](const std::string& name, int* failed) {
    return directory.open_file(name, failed);
  };
  if (is_there(directory, kLifeName) && !timeloom::is_gone(open)) return false;
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

// A limit, so that no rank looks for all others.
constexpr std::uint32_t kMostLookedAt = 64;

// The same for all ranks below a node.
bool are_gone(const os::Directory& group, std::uint32_t first, std::uint32_t end) {
  if (end - first > kMostLookedAt) return false;
  for (std::uint32_t rank = first; rank < end; ++rank) {
    if (!is_gone(group, rank)) return false;
  }
  return true;
}

// Whether a rank has started, or starts within the timeout.
bool begins_within(std::chrono::milliseconds timeout, const os::Directory& group,
                   std::uint32_t rank) {
  constexpr std::chrono::milliseconds kPause{10};
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!is_there(group, name_of_rank(rank))) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kPause);
    // A network file system looks again at the entries.
    int ignored = 0;
    (void)os::Directory::open(group.path_of_descriptor(), &ignored);
  }
  return true;
}

// Whether a process of the rank records. With `or_begins`, also if it has a directory but no spool.
bool records(const os::Directory& group, std::uint32_t rank, bool or_begins) {
  int error = 0;
  const os::Directory directory = group.open_below(name_of_rank(rank), &error);
  if (!directory.is_open()) return false;
  const auto open = [&](const std::string& name, int* failed) {
    return directory.open_file(name, failed);
  };
  if (is_there(directory, kLifeName) && !timeloom::is_gone(open)) return true;
  bool any = false;
  for (const std::string& name : directory.names(&error)) {
    if (directory.kind(name, &error) != os::EntryKind::kDirectory) continue;
    any = true;
    const auto open_of_spool = [&](const std::string& file, int* failed) {
      return directory.open_file(name + "/" + file, failed);
    };
    if (alive(open_of_spool) == Alive::kYes) return true;
  }
  return or_begins && !any;
}

}  // namespace

bool others_record(const os::Directory& group, std::uint32_t rank, bool or_begin) {
  int error = 0;
  for (const std::string& name : group.names(&error)) {
    const std::optional<std::uint32_t> other = rank_of_directory(name);
    if (other && *other != rank && records(group, *other, or_begin)) return true;
  }
  return false;
}

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

namespace {

Others climb(const os::Directory& group, const os::Directory& ended, std::uint32_t rank,
             std::uint32_t size, std::chrono::milliseconds timeout) {
  std::uint32_t index = rank, count = size;
  for (int level = 1; count > 1; ++level, index /= 2, count = (count + 1) / 2) {
    const std::uint32_t other = index ^ 1u;
    if (other >= count) continue;  // no other rank comes to the node above
    const int error = ended.make_directory(std::to_string(level) + "-" + std::to_string(index / 2));
    if (error == EEXIST) continue;
    const int below = level - 1;
    if (error == 0 && are_gone(group, other << below, std::min(size, (other + 1) << below)))
      continue;
    const bool begun = error != 0 || begins_within(timeout, group, other << below);
    return begun ? Others::kGoOn : Others::kNotHere;
  }
  // A rank that was taken for gone may come here itself.
  return ended.make_directory(kTopName) == EEXIST ? Others::kGoOn : Others::kEnded;
}

}  // namespace

// The measurement of this rank has ended before this is called. So if several ranks end at one
// time, at least the last one to note that others are missing, or one that ends after that, sees
// that no rank records any more.
Others end_rank_in(const os::Directory& group, std::uint32_t rank, std::uint32_t size,
                   std::chrono::milliseconds timeout) {
  if (!group.is_open() || make_in_group(group, kEndedName) != 0) return Others::kGoOn;
  int ignored = 0;
  const os::Directory ended = group.open_below(kEndedName, &ignored);
  if (!ended.is_open()) return Others::kGoOn;
  const Others others = climb(group, ended, rank, size, timeout);
  if (others == Others::kEnded) return others;
  if (others == Others::kNotHere) {
    (void)make_in_group(ended, kMissingName);
  } else if (!is_there(ended, kMissingName)) {
    return others;
  }
  return others_record(group, rank, false) ? Others::kGoOn : Others::kNotHere;
}

}  // namespace timeloom::run
