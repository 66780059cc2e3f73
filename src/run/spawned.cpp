#include "run/spawned.hpp"

#include <string>
#include <system_error>

#include "core/spawned.hpp"
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
os::Directory open_group(const fs::path& run, std::uint32_t spawn, int* error) {
  os::Directory spools = open_spools(run, error);
  if (!spools.is_open() || spawn == 0) return spools;
  return spools.open_below(std::string(kSpawnedName) + "/" + std::to_string(spawn), error);
}

bool is_there(const os::Directory& directory, const char* name) {
  int ignored = 0;
  return directory.kind(name, &ignored) != os::EntryKind::kNone;
}

// A closed one: none of the group has ended, nor joined, if it is that of a spawn.
os::Directory ended_of(const os::Directory& group) {
  int ignored = 0;
  return group.open_below(kEndedName, &ignored);
}

bool has_ended(const os::Directory& group) {
  const os::Directory ended = ended_of(group);
  return (ended.is_open() && is_there(ended, kAllName)) || is_group_gone(group);
}

bool have_all_ended(const os::Directory& spools) {
  if (!has_ended(spools)) return false;
  int error = 0;
  const os::Directory spawned = spools.open_below(kSpawnedName, &error);
  if (!spawned.is_open()) return true;
  for (const std::string& name : spawned.names(&error)) {
    int ignored = 0;
    const os::Directory group = spawned.open_below(name, &ignored);
    // A spawn of which no process has joined is none of the run.
    if (group.is_open() && ended_of(group).is_open() && !has_ended(group)) return false;
  }
  return error == 0;
}

}  // namespace

fs::path spools_of_spawned(const fs::path& run, std::uint32_t spawn, std::uint32_t rank) {
  return spools_of_group(run, spawn) / spools_of_rank({}, rank).filename();
}

bool join_spawn(const fs::path& run, std::uint32_t spawn, std::uint32_t rank) {
  const fs::path spools = spools_of_group(run, spawn);
  int error = 0;
  const os::Directory group = open_group(run, spawn, &error);
  if (error == 0) error = make_in_group(group, kEndedName);
  if (error != 0) {
    throw fs::filesystem_error("cannot create", spools / kEndedName,
                               std::error_code(error, std::generic_category()));
  }
  return take_rank_in(group, spools, rank);
}

Others end_spawned(const fs::path& run, std::uint32_t spawn, std::uint32_t rank,
                   std::uint32_t size) {
  int ignored = 0;
  return end_rank_in(open_group(run, spawn, &ignored), rank, size);
}

bool end_group(const fs::path& run, std::uint32_t spawn) {
  int ignored = 0;
  const os::Directory spools = open_spools(run, &ignored);
  if (!spools.is_open() || !is_there(spools, kSpawnedName)) return true;
  const os::Directory group = open_group(run, spawn, &ignored);
  if (!group.is_open() || make_in_group(group, kEndedName) != 0) return false;
  if (make_in_group(ended_of(group), kAllName) != 0 || !have_all_ended(spools)) return false;
  return make_in_group(spools, kEndedName) == 0 && ended_of(spools).make_directory(kLastName) == 0;
}

}  // namespace timeloom::run
