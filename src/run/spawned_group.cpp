#include "run/spawned_group.hpp"

#include <cerrno>
#include <string>

#include "core/mpi/spawned.hpp"
#include "os/directory.hpp"
#include "run/contents.hpp"
#include "run/ranks_of_group.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

constexpr char kAllName[] = "all";
constexpr char kLastName[] = "last";

fs::path spools_of_group(const fs::path& run, std::uint32_t spawn) {
  return run / name_of(Item::kSpool) / kSpawnedName / std::to_string(spawn);
}

// 0: the ranks of the job.
os::Directory open_group(const KnownDirectory& run, std::uint32_t spawn, int* error) {
  os::Directory spools = open_spools(run, error);
  if (!spools.is_open() || spawn == 0) return spools;
  return spools.open_below(std::string(kSpawnedName) + "/" + std::to_string(spawn), error);
}

// Whether opening failed since there is no such directory; a link, or another directory in its
// place, counts as none.
bool is_none(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ESTALE;
}

// A closed object: no rank of the group has ended, or none of a spawn has joined.
os::Directory ended_of(const os::Directory& group, int* error) {
  return group.open_below(kEndedName, error);
}

bool has_ended(const os::Directory& group) {
  int ignored = 0;
  const os::Directory ended = ended_of(group, &ignored);
  return (ended.is_open() && is_there(ended, kAllName)) || is_group_gone(group);
}

// A spawn of which no process has joined does not belong to the run.
bool has_none_left(const os::Directory& spawned, const std::string& name) {
  int error = 0;
  const os::Directory group = spawned.open_below(name, &error);
  if (!group.is_open()) return is_none(error);
  return (!ended_of(group, &error).is_open() && is_none(error)) || has_ended(group);
}

bool have_all_ended(const os::Directory& spools) {
  if (!has_ended(spools)) return false;
  int error = 0;
  const os::Directory spawned = spools.open_below(kSpawnedName, &error);
  if (!spawned.is_open()) return is_none(error);
  for (const std::string& name : spawned.names(&error)) {
    if (!has_none_left(spawned, name)) return false;
  }
  return error == 0;
}

}  // namespace

fs::path spools_of_spawned(const fs::path& run, std::uint32_t spawn, std::uint32_t rank) {
  return spools_of_group(run, spawn) / spools_of_rank({}, rank).filename();
}

bool join_spawn(const KnownDirectory& run, std::uint32_t spawn, std::uint32_t rank) {
  const fs::path spools = spools_of_group(run.path(), spawn);
  int error = 0;
  const os::Directory group = open_group(run, spawn, &error);
  if (error == 0) error = make_in_group(group, kEndedName);
  if (error != 0) fail_to_make(spools / kEndedName, error);
  return take_rank_in(group, spools, rank);
}

Others end_spawned(const KnownDirectory& run, std::uint32_t spawn, std::uint32_t rank,
                   std::uint32_t size) {
  int ignored = 0;
  return end_rank_in(open_group(run, spawn, &ignored), rank, size);
}

bool end_group(const KnownDirectory& run, std::uint32_t spawn) {
  int error = 0;
  const os::Directory spools = open_spools(run, &error);
  if (!spools.is_open()) return is_none(error);
  if (!is_there(spools, kSpawnedName)) return true;
  const os::Directory group = open_group(run, spawn, &error);
  if (!group.is_open() || make_in_group(group, kEndedName) != 0) return false;
  if (make_in_group(ended_of(group, &error), kAllName) != 0 || !have_all_ended(spools))
    return false;
  return make_in_group(spools, kEndedName) == 0 &&
         ended_of(spools, &error).make_directory(kLastName) == 0;
}

}  // namespace timeloom::run
