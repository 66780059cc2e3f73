#include "run/spawned.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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

fs::path spools_of(const fs::path& run) { return run / name_of(Item::kSpool); }

fs::path spools_of_group(const fs::path& run, std::uint32_t spawn) {
  return spawn == 0 ? spools_of(run) : spools_of(run) / kSpawnedName / std::to_string(spawn);
}

bool is_there(const fs::path& path) { return ::access(path.c_str(), F_OK) == 0; }

// A spawn of which no process has joined is none of the run.
bool has_ended(const fs::path& spools) {
  const fs::path ended = spools / kEndedName;
  return !is_there(ended) || is_there(ended / kAllName) || is_group_gone(spools);
}

bool have_all_ended(const fs::path& run) {
  const fs::path spawned = spools_of(run) / kSpawnedName;
  const bool first = is_there(spools_of(run) / kEndedName / kAllName);
  if (!first && !is_group_gone(spools_of(run))) return false;
  int error = 0;
  const os::Directory directory = os::Directory::open(spawned.string(), &error);
  if (!directory.is_open()) return true;
  for (const std::string& name : directory.names(&error)) {
    if (!has_ended(spawned / name)) return false;
  }
  return error == 0;
}

bool make(const fs::path& directory) { return make_directory_in_run(directory) == 0; }

}  // namespace

fs::path spools_of_spawned(const fs::path& run, std::uint32_t spawn, std::uint32_t rank) {
  return spools_of_group(run, spawn) / spools_of_rank({}, rank).filename();
}

bool join_spawn(const fs::path& run, std::uint32_t spawn, std::uint32_t rank) {
  const fs::path spools = spools_of_group(run, spawn);
  const fs::path ended = spools / kEndedName;
  if (const int error = make_directory_in_run(ended); error != 0) {
    throw fs::filesystem_error("cannot create", ended,
                               std::error_code(error, std::generic_category()));
  }
  return take_rank_in(spools, rank);
}

Others end_spawned(const fs::path& run, std::uint32_t spawn, std::uint32_t rank,
                   std::uint32_t size) {
  return end_rank_in(spools_of_group(run, spawn), rank, size);
}

bool end_group(const fs::path& run, std::uint32_t spawn) {
  if (!is_there(spools_of(run) / kSpawnedName)) return true;
  const fs::path ended = spools_of_group(run, spawn) / kEndedName;
  if (!make(ended) || !make(ended / kAllName) || !have_all_ended(run)) return false;
  return make(spools_of(run) / kEndedName) &&
         ::mkdir((spools_of(run) / kEndedName / kLastName).c_str(), 0777) == 0;
}

}  // namespace timeloom::run
